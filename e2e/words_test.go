// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// foreign is what no user should have to read: a gRPC status as it is, the name of a Go type, a format that failed.
var foreign = regexp.MustCompile(`rpc error:|desc = |\*[a-z]+\.\w*[eE]rror(String)?\b|Go (struct|value)|%!\w?\(`)

// requireWords fails a story whose output holds what only a programmer of the project can read.
func requireWords(t *testing.T, what, output string) {
	t.Helper()
	if at := foreign.FindStringIndex(output); at != nil {
		t.Errorf("%s shows %q: …%s…", what, output[at[0]:at[1]], output[max(0, at[0]-200):min(len(output), at[1]+200)])
	}
}

func TestWordsOfProgrammersAreFound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"rpc error: code = Unavailable desc = gone", "read: *fs.PathError", "*errors.errorString",
		"cannot unmarshal string into Go struct field", "%!s(MISSING)", "took %!d(string=x)",
	} {
		require.Regexp(t, foreign, text)
	}
	for _, text := range []string{"100 % of the disk", "description = b", "**bold.Text**", "apps/*.yaml"} {
		require.NotRegexp(t, foreign, text)
	}
}
