// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// maxChoice bounds what is read; a choice is far smaller.
const maxChoice = 4 << 10

// choice is what a run that became ready has settled on.
type choice struct {
	Kind cluster.Kind `json:"kind"`
	// Why is the reason as users read it.
	Why string `json:"why"`
}

func choiceFile(dir string) string { return filepath.Join(dir, "auto.json") }

// readChoice returns nil when nothing was settled.
func readChoice(dir string) (*choice, error) {
	file := choiceFile(dir)
	info, err := os.Stat(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var data []byte
	if err == nil && info.Size() > maxChoice {
		err = errors.New("it is too large")
	}
	if err == nil {
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("read which kind of cluster was chosen: %s: %w", file, err)
	}
	return decodeChoice(file, data)
}

func decodeChoice(file string, data []byte) (*choice, error) {
	var c choice
	err := json.Unmarshal(data, &c)
	if err == nil && c.Kind != cluster.InDocker && c.Kind != cluster.Embedded {
		err = fmt.Errorf("unknown kind %q", c.Kind)
	}
	if err != nil {
		return nil, fmt.Errorf("read which kind of cluster was chosen: %s: %w", file, err)
	}
	return &c, nil
}

func (c *choice) write(dir string) error {
	data, err := json.Marshal(c)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = workspace.WriteFile(choiceFile(dir), data)
	}
	if err != nil {
		return fmt.Errorf("write which kind of cluster was chosen: %w", err)
	}
	return nil
}
