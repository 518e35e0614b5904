// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// addLoginUser adds the user of this process to $HOME/passwd unless it is there: OpenShift gives pods a random
// user id that has no name, and programs such as ssh refuse to work for a user without one. The image has to
// bring nss_wrapper, which reads that file (PipeCD).
func addLoginUser() error {
	home, err := os.UserHomeDir()
	if err != nil {
		return fmt.Errorf("find the home directory: %w; set HOME", err)
	}
	path := filepath.Join(home, "passwd")
	uid := strconv.Itoa(os.Getuid())
	known, err := hasUser(path, uid)
	if known || err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o664)
	if err != nil {
		return fmt.Errorf("add the user to the file: %w", err)
	}
	_, err = fmt.Fprintf(file, "\ndefault:x:%s:%d:Dynamically created user:%s:/sbin/nologin\n", uid, os.Getgid(), home)
	return errors.Join(err, file.Close())
}

// hasUser reports whether a passwd file names the user id.
func hasUser(path, uid string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if fields := strings.Split(lines.Text(), ":"); len(fields) > 2 && fields[2] == uid {
			return true, nil
		}
	}
	return false, lines.Err()
}
