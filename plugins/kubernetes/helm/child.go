// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/fxamacker/cbor/v2"
)

const (
	// childArgument makes a program that calls ServeIfChild render charts, and do nothing else.
	childArgument = "render-charts"
	// exitOfMemory is the exit code of a child that needed more memory than it may.
	exitOfMemory = 86
	// memoryInterval is how often a child looks at its memory while it renders. The memory that templates take in
	// between has to be written first, which bounds it.
	memoryInterval = 10 * time.Millisecond
)

// ServeIfChild renders charts for the process that has started this one, and does not return then. In every other
// process it does nothing. main calls it first.
func ServeIfChild() {
	if len(os.Args) != 2 || os.Args[1] != childArgument {
		return
	}
	if err := serveJobs(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serveJobs(in io.Reader, out io.Writer) error {
	decoder, err := newDecoder(in)
	if err != nil {
		return err
	}
	jobs := make(chan *job)
	go func() {
		for {
			next := &job{}
			if err := decoder.Decode(next); err != nil {
				os.Exit(0) // the parent has gone or wants no more, also in the middle of a job
			}
			jobs <- next
		}
	}()
	encoder := cbor.NewEncoder(out)
	for next := range jobs {
		if err := encoder.Encode(work(next)); err != nil {
			return err
		}
	}
	return nil
}

// work runs a job within its limits.
func work(j *job) *answer {
	ended := make(chan struct{})
	defer close(ended)
	if j.MemoryBytes > 0 {
		debug.SetMemoryLimit(int64(j.MemoryBytes / 10 * 9)) //nolint:gosec // far below the bound of int64
		go watchMemory(j.MemoryBytes, ended)
	}
	files, err := j.run()
	if err != nil {
		return &answer{Error: err.Error(), UsedBytes: usedMemory()}
	}
	return &answer{Files: files, UsedBytes: usedMemory()}
}

// watchMemory ends the process when it has more than limit. Nothing else ends a template that goes on and on.
func watchMemory(limit uint64, ended <-chan struct{}) {
	ticker := time.NewTicker(memoryInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
		if usedMemory() > limit {
			os.Exit(exitOfMemory)
		}
	}
}

// usedMemory is what the process has of the system in bytes, as its runtime counts it.
func usedMemory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}
