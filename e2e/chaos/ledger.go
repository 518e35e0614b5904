// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// mark is one line of the ledger.
type mark struct {
	// Kind is begin, end, or overlap: another one of the application held the lock.
	Kind       string    `json:"kind"`
	Deployment string    `json:"deployment"`
	App        string    `json:"app"`
	Step       string    `json:"step"`
	PID        int       `json:"pid"`
	Time       time.Time `json:"time"`
}

const ledgerFile = "ledger"

// note appends a line in one write, which the kernel keeps whole.
func note(dir string, m mark) error {
	m.PID, m.Time = os.Getpid(), time.Now()
	line, err := json.Marshal(m)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(dir, ledgerFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// readLedger returns the marks in their order.
func readLedger(dir string) ([]mark, error) {
	file, err := os.Open(filepath.Join(dir, ledgerFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var marks []mark
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var m mark
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return nil, err
		}
		marks = append(marks, m)
	}
	return marks, lines.Err()
}
