"""What goes over the wire to live venues: one polite HTTP client, and each venue's own shapes."""
