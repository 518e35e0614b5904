// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// counter gives numbers that are used once.
type counter struct{ last atomic.Int64 }

func (c *counter) next() int64 { return c.last.Add(1) }

// onceFor makes a value that several cases look at.
type onceFor[T any] struct {
	once  sync.Once
	value T
	err   error
}

func (o *onceFor[T]) get(make func() (T, error)) (T, error) {
	o.once.Do(func() { o.value, o.err = make() })
	return o.value, o.err
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }
