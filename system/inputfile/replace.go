// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inputfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Replace gives a file that a user has written another content at once: a reader, a full disk and the end of this
// process leave it with the old content or the new one, never with a part. The file keeps its permissions, and a
// symbolic link to it stays one.
func Replace(path string, content []byte) (err error) {
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary.Name())
		}
	}()
	_, err = temporary.Write(content)
	err = errors.Join(err, temporary.Chmod(info.Mode().Perm()), temporary.Sync(), temporary.Close())
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
