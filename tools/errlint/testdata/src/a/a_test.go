package a

import "os"

func inTest(file *os.File) { file.Sync() }
