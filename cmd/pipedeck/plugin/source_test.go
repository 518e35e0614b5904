// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Runs of two applications against one cluster must not have each other's resources; runs of one application must.
func TestEachApplicationIsTestedUnderItsOwnID(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	require.NoError(t, err)
	require.Regexp(t, `^application-[0-9a-f]{12}$`, applicationID("shop"))
	require.Equal(t, applicationID("shop"), applicationID(filepath.Join(here, "shop")+"/"))
	require.NotEqual(t, applicationID("shop"), applicationID("cart"))
	require.Empty(t, applicationID(""), "the suite's own application")
}

func TestTheExampleOfAPluginIsItsApplication(t *testing.T) {
	t.Parallel()
	dir, scratch := t.TempDir(), t.TempDir()
	var said strings.Builder
	f := &testFlags{}
	require.NoError(t, f.takeSource(dir, scratch, &said))
	require.Nil(t, f.options.Source)
	require.Empty(t, said.String()+f.options.ApplicationID)

	example := filepath.Join(dir, "example")
	require.NoError(t, os.Mkdir(example, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(example, applicationFile), []byte("spec: {}\n"), 0o600))
	require.NoError(t, f.takeSource(dir, scratch, &said))
	require.Equal(t, "testing with the application "+example+"; --source gives another one, --source '' none\n",
		said.String())
	require.Equal(t, "spec: {}\n", string(f.options.Source.GetApplicationConfig()))
	require.Equal(t, applicationID(example), f.options.ApplicationID)

	// What cannot be copied is an error for the application of --source alone.
	full := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(full, copiedName), nil, 0o600))
	said.Reset()
	require.NoError(t, f.takeSource(dir, full, &said))
	require.Contains(t, said.String(), "is not used")
	require.Nil(t, f.options.Source)
	require.Empty(t, f.options.ApplicationID)
	f.source = filepath.Join(dir, "none")
	require.Error(t, f.takeSource(dir, scratch, &said))
}
