package a

import "os"

func generated(file *os.File) { file.Sync() }
