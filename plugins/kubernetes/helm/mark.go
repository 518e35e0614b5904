// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/child"
)

// markFunction is called at the begin of each template, so that a limit can name the one that needed too much.
const markFunction = "pipedeckBegins"

// markOf is the call. It stands in the first line, whose columns it moves.
func markOf(template string) string { return fmt.Sprintf("{{%s $ %q}}", markFunction, template) }

// mark is what the call does. A template that others include says their name.
func mark(t *child.Talk) any {
	return func(data any, template string) string {
		var top map[string]any
		switch data := data.(type) {
		case map[string]any:
			top = data
		case common.Values:
			top = data
		}
		var outer any
		switch of := top["Template"].(type) {
		case map[string]any:
			outer = of["Name"]
		case common.Values:
			outer = of["Name"]
		}
		if name, is := outer.(string); is {
			template = name
		}
		t.Say(word{At: template})
		return ""
	}
}

// marked is the text of a template with the call. Templates that only others include have none.
func marked(template string, data []byte) []byte {
	if isPartial(template) {
		return data
	}
	return append([]byte(markOf(template)), data...)
}

func isPartial(template string) bool { return strings.HasPrefix(path.Base(template), "_") }

// unmarked is an error with the columns that the first line has in the repository.
func unmarked(err error) error {
	text := at.ReplaceAllStringFunc(err.Error(), func(place string) string {
		file, position, _ := strings.Cut(place, ":")
		line, column, _ := strings.Cut(position, ":")
		n, bad := strconv.Atoi(column)
		if line != "1" || bad != nil || isPartial(file) || n < len(markOf(file)) {
			return place
		}
		return fmt.Sprintf("%s:1:%d", file, n-len(markOf(file)))
	})
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}
