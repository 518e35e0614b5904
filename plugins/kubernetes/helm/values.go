// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/strvals"

	"github.com/pipedeck/pipedeck/system/yamlplace"
)

// values merges the values of a request: files, then single values, then values from files, each kind sorted by key.
func (c *Charts) values(ctx context.Context, g *guard, req Request) (*given, error) {
	got := &given{options: req.Options}
	values := loader.MergeMaps(nil, req.Options.BaseValues)
	for _, name := range req.Options.ValueFiles {
		data, fetched, err := c.valueFile(ctx, g, req, name)
		if err != nil {
			return nil, fmt.Errorf("input.helmOptions.valueFiles: %w", err)
		}
		got.remote = got.remote || fetched
		got.files = append(got.files, valuesFile{name: shownURL(name), data: data})
		more, err := loader.LoadValues(bytes.NewReader(data))
		if err != nil {
			return nil, valuesError(shownURL(name), data, err)
		}
		values = loader.MergeMaps(values, more)
	}
	values = loader.MergeMaps(values, req.Options.Values)
	for _, key := range slices.Sorted(maps.Keys(req.Options.SetValues)) {
		if err := strvals.ParseInto(key+"="+req.Options.SetValues[key], values); err != nil {
			return nil, fmt.Errorf("input.helmOptions.setValues: %s: %w", key, err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(req.Options.SetFiles)) {
		read := func(name []rune) (any, error) {
			data, err := readBelow(req, string(name))
			return string(data), err
		}
		if err := strvals.ParseIntoFile(key+"="+req.Options.SetFiles[key], values, read); err != nil {
			return nil, fmt.Errorf("input.helmOptions.setFiles: %s: %w", key, err)
		}
	}
	got.values = values
	return got, nil
}

func (c *Charts) valueFile(ctx context.Context, g *guard, req Request, name string) (data []byte, fetched bool,
	err error) {
	if scheme, _, is := strings.Cut(name, "://"); is {
		if scheme != "https" && scheme != "http" {
			return nil, false, fmt.Errorf("%s: only https:// is read, and files of the repository", shownURL(name))
		}
		data, err = anonymous(name, g).get(ctx, name, maxValues)
		return data, true, err
	}
	data, err = readBelow(req, name)
	return data, false, err
}

// readBelow reads a file relative to the application's directory.
func readBelow(req Request, name string) ([]byte, error) {
	if filepath.IsAbs(name) {
		return nil, fmt.Errorf("%s is not relative to the application's directory", name)
	}
	return req.Tree.ReadFile(filepath.Join(req.Dir, name))
}

// valuesError is why a file with values cannot be read, without more of its content than the parser reports.
func valuesError(name string, data []byte, err error) error {
	if line, problem := yamlplace.Of(data, err); line > 0 {
		return fmt.Errorf("%s:%d: not valid YAML: %s", name, line, problem)
	}
	if strings.Contains(err.Error(), "json: cannot unmarshal") {
		return fmt.Errorf("%s: %w", name, errors.New("not a map of values"))
	}
	return fmt.Errorf("%s: %w", name, err)
}
