// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package logtest keeps the logs of a test.
package logtest

import (
	"bytes"
	"sync"
)

// Buffer is an io.Writer that may be read while others write. The zero value is ready.
type Buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to the text; it never fails.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns all that was written until now.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
