// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
)

// WriterOptions bound and mask what is written.
type WriterOptions struct {
	// File is made, or added to when it is there: a plugin may be started several times. It gets the mode 0600.
	File string
	// Plugin is the plugin's name, Settings its entry of the piped configuration without secrets.
	Plugin   string
	Settings json.RawMessage
	// MaxBytes is the size at which the file grows no more.
	MaxBytes int64
	// See is shown every message before it is masked; nil for nothing.
	See func(proto.Message)
	// Mask replaces secrets in a text; nil for nothing.
	Mask func(string) string
}

// Writer keeps calls in a file. Its methods may be called from several goroutines.
type Writer struct {
	options WriterOptions
	run     string

	mu      sync.Mutex
	file    *os.File
	size    int64
	next    int
	dropped int
	err     error
}

// NewWriter opens the file.
func NewWriter(options WriterOptions) (*Writer, error) {
	file, err := os.OpenFile(options.File, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the recording: %w", err)
	}
	info, err := file.Stat()
	if err == nil && info.Mode().IsRegular() {
		err = file.Chmod(0o600) // it may have been there for others to read
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the recording: %w", err), file.Close())
	}
	w := &Writer{
		options: options, file: file, size: info.Size(),
		run: strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixMilli(), 36),
	}
	w.put(note{Run: w.run, Link: noteLink, Format: Format, Plugin: options.Plugin, Settings: options.Settings})
	return w, nil
}

// Begin returns the place of a call.
func (w *Writer) Begin() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.next++
	return w.next
}

// Write keeps a call; its link is set here, and secrets are masked. Beyond the limit calls are counted only.
func (w *Writer) Write(toPlugin bool, call Call) {
	call.Run, call.Link = w.run, w.options.Plugin+">piped"
	if toPlugin {
		call.Link = "piped>" + w.options.Plugin
	}
	call.Request, call.Response = w.masked(call.Method, call.Request, true), w.masked(call.Method, call.Response, false)
	if w.options.Mask != nil {
		call.Message = w.options.Mask(call.Message)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dropped > 0 {
		w.dropped++
		return
	}
	w.put(call)
}

// masked is the message without secrets. What cannot be read is left out, such as fields that are not known
// here.
func (w *Writer) masked(method string, data []byte, input bool) []byte {
	if data == nil {
		return nil
	}
	message, err := Message(method, input)
	if err != nil || (proto.UnmarshalOptions{DiscardUnknown: w.options.Mask != nil}).Unmarshal(data, message) != nil {
		return []byte{}
	}
	if w.options.See != nil {
		w.options.See(message)
	}
	if w.options.Mask == nil {
		return data
	}
	maskStrings(message.ProtoReflect(), w.options.Mask)
	masked, err := proto.MarshalOptions{AllowPartial: true}.Marshal(message)
	if err != nil {
		return []byte{}
	}
	return masked
}

// put writes one line; w.mu is held, or no one else has w yet.
func (w *Writer) put(line any) {
	data, err := json.Marshal(line)
	if err != nil {
		w.err = errors.Join(w.err, err)
		return
	}
	data = append(data, '\n')
	if w.options.MaxBytes > 0 && w.size+int64(len(data)) > w.options.MaxBytes {
		w.dropped++
		return
	}
	n, err := w.file.Write(data) // one write a line: two processes may add to the file
	w.size += int64(n)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("write the recording: %w", err)
	}
}

// Missing notes that calls are missing, and why.
func (w *Writer) Missing(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.put(note{Run: w.run, Link: noteLink, Missing: why})
}

// Close notes what is missing and closes the file.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dropped > 0 {
		missing := fmt.Sprintf("%d calls are missing: the recording reached its limit of %d bytes", w.dropped,
			w.options.MaxBytes)
		w.options.MaxBytes = 0
		w.put(note{Run: w.run, Link: noteLink, Missing: missing})
	}
	return errors.Join(w.err, w.file.Close())
}
