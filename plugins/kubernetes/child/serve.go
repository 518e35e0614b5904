// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/fxamacker/cbor/v2"
)

const (
	// exitOfMemory is the exit code of a process that needed more memory than it may.
	exitOfMemory = 86
	// memoryInterval is how often a process looks at its memory while it works. The memory that is taken in between has
	// to be written first, which bounds it.
	memoryInterval = 10 * time.Millisecond
)

// question is a job on its way.
type question[Job any] struct {
	Job         *Job
	MemoryBytes uint64
}

// reply is what a job has come to.
type reply[Answer any] struct {
	Answer *Answer
	// UsedBytes is the memory of the process afterwards.
	UsedBytes uint64
}

// Serve works for the process that has started this one with the argument, and does not return then. In every other
// process it does nothing. main calls it first.
func Serve[Job, Answer any](argument string, work func(*Job) *Answer) {
	if len(os.Args) != 2 || os.Args[1] != argument {
		return
	}
	if err := serve(os.Stdin, os.Stdout, work); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve[Job, Answer any](in io.Reader, out io.Writer, work func(*Job) *Answer) error {
	decoder, err := newDecoder(in)
	if err != nil {
		return err
	}
	jobs := make(chan *question[Job])
	go func() {
		for {
			next := &question[Job]{}
			if err := decoder.Decode(next); err != nil {
				os.Exit(0) // the parent has gone or wants no more, also in the middle of a job
			}
			jobs <- next
		}
	}()
	encoder := cbor.NewEncoder(out)
	for next := range jobs {
		if err := encoder.Encode(within(next, work)); err != nil {
			return err
		}
	}
	return nil
}

// within does the work within the limit of memory.
func within[Job, Answer any](q *question[Job], work func(*Job) *Answer) *reply[Answer] {
	ended := make(chan struct{})
	defer close(ended)
	if q.MemoryBytes > 0 {
		debug.SetMemoryLimit(int64(q.MemoryBytes / 10 * 9)) //nolint:gosec // far below the bound of int64
		go watchMemory(q.MemoryBytes, ended)
	}
	answer := work(q.Job)
	return &reply[Answer]{Answer: answer, UsedBytes: usedMemory()}
}

// watchMemory ends the process when it has more than limit.
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

// newDecoder reads what the other process of the same program has written.
func newDecoder(r io.Reader) (*cbor.Decoder, error) {
	const many = 1 << 27
	mode, err := cbor.DecOptions{
		DefaultMapType: reflect.TypeFor[map[string]any](), IntDec: cbor.IntDecConvertSignedOrBigInt,
		UTF8:            cbor.UTF8DecodeInvalid,
		MaxNestedLevels: 10_000, MaxArrayElements: many, MaxMapPairs: many,
	}.DecMode()
	if err != nil {
		return nil, err
	}
	return mode.NewDecoder(r), nil
}
