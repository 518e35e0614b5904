// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
)

// leastStories is how many tests of this package show the UI on a real pseudo-terminal, at least. Each starts the UI as
// a user does, against a deck API that listens, and reads its screen from an emulated terminal.
const leastStories = 150

// stories are the tests that did so.
var stories register

// register is a set of tests by their names.
type register struct {
	mu    sync.Mutex
	names map[string]bool
}

func (r *register) note(t *testing.T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names == nil {
		r.names = map[string]bool{}
	}
	r.names[t.Name()] = true
}

// storiesAtOnce is how many tests run at the same time: a story waits for frames most of its time.
const storiesAtOnce = "8"

func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", storiesAtOnce); err != nil {
		panic(err)
	}
	code := m.Run()
	if code == 0 && isWhole() {
		fmt.Printf("%d stories on a pseudo-terminal\n", len(stories.names))
		if len(stories.names) < leastStories {
			fmt.Println("FAIL: there are fewer than", leastStories)
			code = 1
		}
	}
	os.Exit(code)
}

// isWhole reports whether all tests were run.
func isWhole() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return true
}
