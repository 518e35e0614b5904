// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plainerror

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"text/template"
	"time"

	"github.com/stretchr/testify/require"
)

// The errors are those of this version of Go.
func TestTextsOfErrorsAreWithoutTheWordsOfGo(t *testing.T) {
	t.Parallel()
	unclosed := "[a" // not a constant, which linters would compile
	missing := filepath.Join(t.TempDir(), "none")
	for name, c := range map[string]struct {
		fail func() error
		want string
	}{
		"a duration without a unit": {func() error { return second(time.ParseDuration("5")) },
			`"5" has no unit; for example 5s`},
		"a duration with a wrong unit": {func() error { return second(time.ParseDuration("5x")) },
			`"5x" has the unknown unit "x"; for example 5s`},
		"no duration": {func() error { return second(time.ParseDuration("soon")) },
			`"soon" is not a duration; for example 5s`},
		"an expression": {func() error { return second(regexp.Compile(unclosed)) },
			"missing closing ]: `[a`"},
		"a number": {func() error { return second(strconv.ParseInt("x", 10, 64)) },
			`"x" is not a whole number`},
		"a large number": {func() error { return second(strconv.ParseInt("300", 10, 8)) },
			`"300" is too large or too small`},
		"a decimal number": {func() error { return second(strconv.ParseFloat("x", 64)) }, `"x" is not a number`},
		"a flag":           {func() error { return second(strconv.ParseBool("x")) }, `"x" is neither true nor false`},
		"a template": {func() error { return second(template.New("t").Parse("\n{{ .x")) },
			"line 2: unclosed action"},
		"a template that is filled": {func() error {
			parsed, err := template.New("t").Option("missingkey=error").Parse("{{ .x }}")
			return errors.Join(err, parsed.Execute(io.Discard, map[string]string{}))
		}, `line 1: map has no entry for key "x"`},
		"an unknown key": {func() error {
			decoder := json.NewDecoder(strings.NewReader(`{"b": 1}`))
			decoder.DisallowUnknownFields()
			return decoder.Decode(&struct{ A int }{})
		}, `unknown key "b"`},
		"a value of another type": {func() error { return json.Unmarshal([]byte(`{"a": "x"}`), &number{}) },
			"a cannot be a value of type string"},
		"all of another type": {func() error { return json.Unmarshal([]byte(`"x"`), &number{}) },
			"it cannot be a value of type string"},
		"a missing file": {func() error { return second(os.Stat(missing)) },
			missing + ": no such file or directory"},
		"a missing directory": {func() error { return second(os.ReadFile(missing)) },
			missing + ": no such file or directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := c.fail()
			require.Error(t, err)
			require.Equal(t, c.want, Text(err))
			require.Equal(t, "read the value: "+c.want, Text(fmt.Errorf("read the value: %w", err)))
		})
	}
	require.Equal(t, "app.yaml: line 3: did not find a key", Clean("app.yaml: yaml: line 3: did not find a key"))
	require.Equal(t, "cannot open x: permission denied", Clean("cannot open x: permission denied"), "a sentence")
}

type number struct {
	A int `json:"a"`
}

func second[T any](_ T, err error) error { return err }
