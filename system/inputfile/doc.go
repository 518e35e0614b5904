// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package inputfile opens the files that users name. It refuses a named pipe, a device, a socket or a directory at
// once, where a plain open or read would wait without an end, read without an end, or fail in words of the system. It
// also replaces the files of users, each as a whole.
package inputfile
