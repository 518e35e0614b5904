// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/index"
	"github.com/pipedeck/pipedeck/system/inputfile"
)

// schemaName is the file next to the sources of a plugin with the schema of its options.
const schemaName = "schema.json"

// pluginFile checks the options in piped-plugin.yaml by the schema of the plugin in the same directory: that of
// --plugin, or else the one that its sources hold.
func (v *validator) pluginFile(ctx context.Context, report *config.Report) {
	dir, err := filepath.Abs(filepath.Dir(report.File()))
	if err != nil {
		return
	}
	for _, text := range v.given {
		given, err := pluginflag.Parse(text)
		if err != nil || given.Source != dir && filepath.Dir(strings.TrimPrefix(given.URL, "file://")) != dir {
			continue
		}
		known := pluginflag.WithSchema(v.checker.Catalogue, given.Name, nil)
		if known.Schema != nil {
			options.CheckPluginFile(report, known.Schema)
		}
		return
	}
	file := filepath.Join(dir, schemaName)
	if there, err := pluginflag.IsFile(file); err != nil || !there {
		return // No one says what the plugin reads.
	}
	document, err := inputfile.Read(ctx, file, config.MaxSize+1)
	if err != nil {
		return
	}
	schema, err := options.Parse(document)
	if err != nil {
		report.Warn("", fmt.Sprintf("the options of the plugin are not checked: %s next to it: %s", schemaName, err))
		return
	}
	options.CheckPluginFile(report, schema)
}

// checkIndex adds what piped refuses of an index and its schema does not show.
func checkIndex(report *config.Report, content []byte) {
	_, err := index.Parse(content)
	if failed, is := errors.AsType[*index.Error](err); is && len(report.Errors) == 0 {
		report.Value("").Error(failed.Path, false, failed.Err.Error())
	}
}
