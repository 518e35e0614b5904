// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package protocol

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/pipedeck/pipedeck/api"
)

// ours begins the names of the files that this project has written.
const ours = "api/"

// Tree returns the texts of the .proto files of Files by the names under which they import each other. Those of ours
// are as they were written; the others are written from their descriptors, without comments.
func Tree() (map[string]string, error) {
	set, err := Files()
	if err != nil {
		return nil, err
	}
	tree := map[string]string{}
	for _, file := range set.GetFile() {
		name := file.GetName()
		if below, is := strings.CutPrefix(name, ours); is {
			text, err := fs.ReadFile(api.PluginProtos, below)
			if err != nil {
				return nil, fmt.Errorf("read the source of %s: %w", name, err)
			}
			tree[name] = string(text)
			continue
		}
		text, err := source(file)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", name, err)
		}
		tree[name] = text
	}
	return tree, nil
}
