module carrel.dev/binaries/pause

go 1.26
