package a

import (
	"fmt"
	"io"
	"os"
)

func drops(file *os.File, failed <-chan error) {
	fmt.Fprintln(file, "text")
	defer file.Close()
	<-failed
	file.Sync() // want `the error of \(\*os\.File\)\.Sync is dropped`
	_ = file.Sync()
}

func compares(err error) bool {
	return err == os.ErrNotExist || // want `comparing with == will fail on wrapped errors`
		err == io.EOF || // want `comparing with == will fail on wrapped errors`
		err == nil
}
