"""Every chart: data in, an Altair chart out. A file for each subject; agents look alike in all of them."""
