// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"sync"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
)

const (
	// maxCacheBytes bounds the memory of loaded manifests, as it is estimated.
	maxCacheBytes = 32 << 20
	// maxVariants bounds how many contents of the same files are kept: what runs, what is wanted, and some proposals.
	maxVariants = 6
)

type cacheKey = [sha256.Size]byte

// cache keeps what was loaded, so that the stages of a deployment, its plan and the live state do not render it again.
// An entry is used only where every file that was read has the same content still, and what was not there is not there:
// not the commit counts but what lies in the checkout, decrypted secrets and generated files included.
type cache struct {
	bound int

	mu      sync.Mutex
	entries map[cacheKey][]*cached
	size    int
	clock   int64
}

type cached struct {
	seen   checkout.Snapshot
	result *result
	size   int
	used   int64
}

func newCache(bound int) *cache { return &cache{bound: bound, entries: map[cacheKey][]*cached{}} }

// key is a digest of all that a request says next to the content of files, and of what its charts see of a cluster.
func (r Request) key(seen *helm.Capabilities) cacheKey {
	dir, err := filepath.Rel(r.Root, r.Dir)
	if err != nil {
		dir = r.Dir
	}
	data, err := json.Marshal(struct {
		Dir, ConfigFile, Namespace string
		Files                      []string
		Chart                      *Chart
		KustomizeOptions           map[string]string
		AllowedAddresses           []string
		Seen                       *helm.Capabilities
		Moment                     helm.Moment
	}{dir, r.ConfigFile, r.Namespace, r.Files, r.Chart, r.KustomizeOptions, r.AllowedAddresses, seen, r.Moment})
	if err != nil { // values that JSON cannot hold, which no configuration has
		data = fmt.Appendf(nil, "%+v %+v", r, seen)
	}
	return sha256.Sum256(data)
}

// get returns what was loaded from files that are the same as those of the checkout. It is shared: not to be changed.
func (c *cache) get(key cacheKey, root string) (*result, bool) {
	c.mu.Lock()
	candidates := append([]*cached(nil), c.entries[key]...)
	c.mu.Unlock()
	for _, e := range candidates {
		if e.seen.Same(root) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.clock++
			e.used = c.clock
			return e.result, true
		}
	}
	return nil, false
}

// put keeps a result and forgets what was not used for the longest time, until all is within the bound.
func (c *cache) put(key cacheKey, seen checkout.Snapshot, r *result) {
	e := &cached{seen: seen, result: r, size: seen.Size() + sizeOf(r)}
	if e.size > c.bound {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	e.used = c.clock
	c.entries[key] = append(c.entries[key], e)
	c.size += e.size
	if len(c.entries[key]) > maxVariants {
		c.forget(key, oldest(c.entries[key]))
	}
	for c.size > c.bound {
		var last cacheKey
		at := c.clock + 1
		for k, entries := range c.entries {
			if e := entries[oldest(entries)]; e.used < at {
				last, at = k, e.used
			}
		}
		c.forget(last, oldest(c.entries[last]))
	}
}

func oldest(entries []*cached) int {
	at := 0
	for i, e := range entries {
		if e.used < entries[at].used {
			at = i
		}
	}
	return at
}

func (c *cache) forget(key cacheKey, i int) {
	entries := c.entries[key]
	c.size -= entries[i].size
	c.entries[key] = append(entries[:i:i], entries[i+1:]...)
	if len(c.entries[key]) == 0 {
		delete(c.entries, key)
	}
}

// sizeOf estimates the memory that a result takes, in bytes.
func sizeOf(r *result) int {
	size := 0
	for _, m := range r.manifests {
		size += sizeOfValue(m.Object)
		size += slots(len(m.Origin.lines), wordBytes*3)
		for path := range m.Origin.lines {
			size += len(path) + wordBytes
		}
	}
	for _, note := range r.notes {
		size += len(note)
	}
	return size
}

const wordBytes = 8

// slots estimates a map: it has room in groups of eight entries, which are filled to seven.
func slots(entries, entryBytes int) int {
	return wordBytes*6 + (entries+6)/7*(8*entryBytes+wordBytes)
}

func sizeOfValue(v any) int {
	size := wordBytes * 2 // the interface that holds it
	switch v := v.(type) {
	case string:
		size += wordBytes*2 + len(v)
	case map[string]any:
		size += slots(len(v), wordBytes*4)
		for key, item := range v {
			size += len(key) + sizeOfValue(item)
		}
	case []any:
		size += wordBytes * 3
		for _, item := range v {
			size += sizeOfValue(item)
		}
	default:
		size += wordBytes
	}
	return size
}
