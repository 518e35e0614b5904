// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package child

import (
	"context"
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

// order is what the process gets: a job, or the reply to the word of a job that asks.
type order[Job any] struct {
	Job         *Job
	MemoryBytes uint64
	Reply       cbor.RawMessage
}

// message is what the process says: a word of its job, or at last its answer.
type message[Answer any] struct {
	// Word is for the listener of the job; Asks says that the job waits for a reply.
	Word   cbor.RawMessage
	Asks   bool
	Answer *Answer
	// UsedBytes is the memory of the process afterwards.
	UsedBytes uint64
}

// Talk is how a job that runs reaches the process that wants it. It is for the goroutine of the job.
type Talk struct {
	send  func(word cbor.RawMessage, asks bool) error
	reply func() cbor.RawMessage
}

// TalkTo returns a Talk with a listener of this very process, for a job that is not done in another one.
func TalkTo(ctx context.Context, listen Listener) *Talk {
	var reply cbor.RawMessage
	return &Talk{
		send: func(word cbor.RawMessage, asks bool) error {
			said, err := listen(ctx, Word{word})
			if err == nil && asks {
				reply, err = cbor.Marshal(said)
			}
			return err
		},
		reply: func() cbor.RawMessage { return reply },
	}
}

// Say sends a word without waiting. An error shows at the next Ask, or at the end of the job.
func (t *Talk) Say(word any) { _ = t.transmit(word, false) }

// Ask sends a word and waits for the reply.
func (t *Talk) Ask(word, reply any) error {
	if err := t.transmit(word, true); err != nil {
		return err
	}
	return decode(t.reply(), reply)
}

func (t *Talk) transmit(word any, asks bool) error {
	data, err := cbor.Marshal(word)
	if err != nil {
		return err
	}
	return t.send(data, asks)
}

// Serve works for the process that has started this one with the argument, and does not return then. In every other
// process it does nothing. main calls it first.
func Serve[Job, Answer any](argument string, work func(*Job, *Talk) *Answer) {
	if len(os.Args) != 2 || os.Args[1] != argument {
		return
	}
	if err := serve(os.Stdin, os.Stdout, work); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func serve[Job, Answer any](in io.Reader, out io.Writer, work func(*Job, *Talk) *Answer) error {
	decoder, err := newDecoder(in)
	if err != nil {
		return err
	}
	orders := make(chan *order[Job])
	go func() {
		for {
			next := &order[Job]{}
			if err := decoder.Decode(next); err != nil {
				os.Exit(0) // the parent has gone or wants no more, also in the middle of a job
			}
			orders <- next
		}
	}()
	encoder := cbor.NewEncoder(out)
	talk := &Talk{
		send: func(word cbor.RawMessage, asks bool) error {
			return encoder.Encode(&message[Answer]{Word: word, Asks: asks})
		},
		reply: func() cbor.RawMessage { return (<-orders).Reply },
	}
	for next := range orders {
		if err := encoder.Encode(within(next, talk, work)); err != nil {
			return err
		}
	}
	return nil
}

// within does the work within the limit of memory.
func within[Job, Answer any](o *order[Job], talk *Talk, work func(*Job, *Talk) *Answer) *message[Answer] {
	ended := make(chan struct{})
	defer close(ended)
	if o.MemoryBytes > 0 {
		debug.SetMemoryLimit(int64(o.MemoryBytes / 10 * 9)) //nolint:gosec // far below the bound of int64
		limitData(o.MemoryBytes)
		go watchMemory(o.MemoryBytes, ended)
	}
	answer := work(o.Job, talk)
	return &message[Answer]{Answer: answer, UsedBytes: usedMemory()}
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
	mode, err := decoding()
	if err != nil {
		return nil, err
	}
	return mode.NewDecoder(r), nil
}

// decode reads a word or a reply.
func decode(data cbor.RawMessage, into any) error {
	mode, err := decoding()
	if err != nil {
		return err
	}
	return mode.Unmarshal(data, into)
}

func decoding() (cbor.DecMode, error) {
	const many = 1 << 27
	return cbor.DecOptions{
		DefaultMapType: reflect.TypeFor[map[string]any](), IntDec: cbor.IntDecConvertSignedOrBigInt,
		UTF8:            cbor.UTF8DecodeInvalid,
		MaxNestedLevels: 10_000, MaxArrayElements: many, MaxMapPairs: many,
	}.DecMode()
}
