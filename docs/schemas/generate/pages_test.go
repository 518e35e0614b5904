// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/docs/page"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
)

// TestConfigurationInTheDocumentationIsRight checks every block of YAML: a block that names no file is a configuration,
// or a part of one from its spec or a key of its spec on. Of a part, only required keys may be missing. Files of other
// kinds are checked by TestFilesInTheDocumentationAreRight.
func TestConfigurationInTheDocumentationIsRight(t *testing.T) {
	t.Parallel()
	pages, err := page.All(root)
	require.NoError(t, err)
	checker, checked := newChecker(t), 0
	for _, path := range pages {
		blocks, err := page.Read(path)
		require.NoError(t, err)
		for _, b := range blocks {
			if b.Language != "yaml" || b.File() != "" && !b.Configures() {
				continue
			}
			problems, ok := problemsOf(checker, b.Text, b.Place())
			require.True(t, ok, "%s: no part of a configuration: name the file in the fence, or begin at spec:",
				b.Place())
			require.Empty(t, problems, "%s\n%s", b.Place(), b.Text)
			checked++
		}
	}
	require.Greater(t, checked, 20)
}

// problemsOf reports what is wrong with an example; ok is false for what is no configuration.
func problemsOf(checker *options.Checker, text, name string) (problems config.Errors, ok bool) {
	first, value := firstKey(text, name)
	if first == "apiVersion" {
		if value != config.APIVersion {
			return nil, false
		}
		report := config.Check([]byte(text), name)
		checker.CheckOptions(report)
		problems = append(report.Errors, report.Warnings...)
		// an example of the old form
		if title, _, _ := strings.Cut(text, "\n"); strings.HasPrefix(title, "#") && strings.Contains(title, "v0") {
			problems = slices.DeleteFunc(problems, func(e *config.Error) bool { return slices.Contains(report.V0, e) })
		}
		return slices.DeleteFunc(problems, ofAnotherPlugin), true
	}
	if first != "spec" {
		if _, isText := value.(string); isText || value == nil || !isKey(first) {
			return nil, false
		}
		text = "spec:\n  " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	var least config.Errors
	for i, kind := range []string{config.KindApplication, config.KindPiped} {
		report := config.Check([]byte("apiVersion: "+config.APIVersion+"\nkind: "+kind+"\n"+text), name)
		checker.CheckOptions(report)
		found := slices.DeleteFunc(append(report.Errors, report.Warnings...), func(e *config.Error) bool {
			return strings.HasPrefix(e.Message, "is required") ||
				strings.HasPrefix(e.Message, "needs pipedKeyFile or") || ofAnotherPlugin(e)
		})
		if i == 0 || len(found) < len(least) {
			least = found
		}
	}
	return least, true
}

// ofAnotherPlugin is about the plugins that the guide for authors writes.
func ofAnotherPlugin(e *config.Error) bool {
	return strings.Contains(e.Message, "no plugin of PipeCD has the stage")
}

// firstKey returns the first key of a YAML mapping and its value; "" for anything else.
func firstKey(text, name string) (key string, value any) {
	data, err := config.JSON([]byte(text), name)
	if err != nil {
		return "", nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	for range 2 { // the brace, and the key
		token, err := decoder.Token()
		if err != nil {
			return "", nil
		}
		key, _ = token.(string)
	}
	if decoder.Decode(&value) != nil {
		return "", nil
	}
	return key, value
}

// isKey reports whether a piped or application configuration has the key in its spec.
func isKey(name string) bool {
	for _, t := range []reflect.Type{reflect.TypeFor[config.Piped](), reflect.TypeFor[config.Application]()} {
		for i := range t.NumField() {
			if key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ","); key == name {
				return true
			}
		}
	}
	return false
}
