// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
)

// expectation is a difference, or several of a kind, that we mean to have. A star in a value stands for any text.
type expectation struct {
	Call     string `yaml:"call"`
	Field    string `yaml:"field"`
	Recorded string `yaml:"recorded"`
	Ours     string `yaml:"ours"`
	Reason   string `yaml:"reason"`

	source string
}

func (e expectation) covers(d difference) bool {
	return glob(e.Call, d.call) && glob(e.Field, d.field) && glob(e.Recorded, d.recorded) && glob(e.Ours, d.ours)
}

func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text = text[i+len(part):]
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}

// readExpectations reads a file of testdata/replay; a scenario without differences has none.
func readExpectations(t *testing.T, name string) []expectation {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/replay", name+".yaml"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	var list []expectation
	require.NoError(t, yaml.UnmarshalWithOptions(data, &list, yaml.Strict()))
	for i := range list {
		require.NotEmpty(t, list[i].Reason, "%s.yaml: %s %s", name, list[i].Call, list[i].Field)
		list[i].source = name
	}
	return list
}

// settle wants each difference to be expected, and returns which expectations were met.
func settle(t *testing.T, differences []difference, expected []expectation) map[expectation]bool {
	t.Helper()
	met := map[expectation]bool{}
	var unexpected []string
	for _, d := range differences {
		known := false
		for _, e := range expected {
			if e.covers(d) {
				known, met[e] = true, true
			}
		}
		if !known {
			unexpected = append(unexpected, d.String())
		}
	}
	if len(unexpected) > 0 {
		t.Errorf("our agent differs from the recording; fix it, or list the difference with a reason in "+
			"testdata/replay:\n- %s", strings.Join(unexpected, "\n- "))
	}
	return met
}
