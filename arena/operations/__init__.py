"""`arena run`: the loop, what is due, jobs, leader, incidents, webhook, status and health endpoint."""
