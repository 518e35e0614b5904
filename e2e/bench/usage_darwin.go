// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// cpuOf: macOS does not report the CPU of the ended children of another process.
func cpuOf(int) (time.Duration, error) { return 0, errors.ErrUnsupported }

func cpuAlone(int) (time.Duration, error) { return 0, errors.ErrUnsupported }

// peakOf: macOS does not report the peak of another process.
func peakOf(int) (float64, error) { return 0, errors.ErrUnsupported }

func memoryBelow(int, string) (others, matching float64, err error) {
	return 0, 0, errors.ErrUnsupported
}

// residentOf is the resident memory of one process in bytes.
func residentOf(pid int) (float64, error) {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0, err
	}
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return float64(kilobytes) * 1024, err
}
