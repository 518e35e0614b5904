// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"
)

// runKeysMetadataKey is the stage metadata with the keys that the present run has put, as JSON:
// {"run": 2, "keys": ["approvals"]}. Only a run that a user wanted once more has it.
const runKeysMetadataKey = "pipedeck/run-keys"

// stageRun hides the stage metadata of earlier runs from a run that a user wanted once more. The values stay where they
// are, because user interfaces read some of them, and metadata cannot be deleted.
type stageRun struct {
	// number is StageState.Run. The run 0 sees everything.
	number int

	mu sync.Mutex
	// keys are those that the run has put, in order; nil before the first question for them.
	keys []string
}

// runKeys is the JSON of runKeysMetadataKey.
type runKeys struct {
	Run  int      `json:"run"`
	Keys []string `json:"keys"`
}

// has reports whether this run, or an earlier attempt of it, has put a key. get reads metadata of the stage.
func (r *stageRun) has(ctx context.Context, get metadataGetter, key string) (bool, error) {
	if r.number == 0 {
		return true, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.load(ctx, get)
	return slices.Contains(r.keys, key), err
}

// put has save store values of the run, together with their keys where they are new.
func (r *stageRun) put(
	ctx context.Context, get metadataGetter, values map[string]string, save func(map[string]string) error,
) error {
	if r.number == 0 {
		return save(values)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.load(ctx, get); err != nil {
		return err
	}
	keys := slices.Clone(r.keys)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if len(keys) == len(r.keys) {
		return save(values)
	}
	text, err := json.Marshal(runKeys{r.number, keys})
	if err != nil {
		return fmt.Errorf("keep the keys of the run: %w", err)
	}
	values = maps.Clone(values)
	values[runKeysMetadataKey] = string(text)
	if err := save(values); err != nil {
		return err
	}
	r.keys = keys
	return nil
}

// metadataGetter reads a value of the metadata of a stage.
type metadataGetter func(ctx context.Context, key string) (value string, found bool, err error)

// load reads the keys of the run once. It is called with mu held.
func (r *stageRun) load(ctx context.Context, get metadataGetter) error {
	if r.keys != nil {
		return nil
	}
	text, found, err := get(ctx, runKeysMetadataKey)
	if err != nil {
		return err
	}
	var kept runKeys
	if found && json.Unmarshal([]byte(text), &kept) == nil && kept.Run == r.number {
		r.keys = kept.Keys
	}
	if r.keys == nil {
		r.keys = []string{}
	}
	return nil
}
