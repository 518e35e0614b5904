// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/tui/document"
)

// registrar answers RegisterPiped.
type registrar struct {
	apiservice.APIServiceClient
	err error
}

func (r registrar) RegisterPiped(context.Context, *apiservice.RegisterPipedRequest,
	...grpc.CallOption) (*apiservice.RegisterPipedResponse, error) {
	return &apiservice.RegisterPipedResponse{Id: "id", Key: "the key"}, r.err
}

func TestTheKeyOfANewPipedGoesIntoASeparateFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "legacy.key")
	_, err := registerPiped(t.Context(), registrar{err: errors.New("too many")}, "legacy", "", path)
	require.ErrorContains(t, err, "register piped legacy: too many")
	require.NoFileExists(t, path)
	registered, err := registerPiped(t.Context(), registrar{}, "legacy", "", path)
	require.NoError(t, err)
	require.Equal(t, "id", registered.GetId())
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	_, err = registerPiped(t.Context(), registrar{}, "legacy", "", path)
	require.ErrorContains(t, err, "exists already")
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "the key", string(data), "a file that is there stays as it is")
}

func TestARegisteredPipedIsADocument(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, printRegistered(&out, document.RegisteredPiped{Head: document.NewHead(), ID: "id",
		Name: "legacy", Project: "p", KeyFile: "/k", Address: "127.0.0.1:1"}, clitest.JSON(t)))
	var registered document.RegisteredPiped
	clitest.Document(t, "registered-piped", out.String(), &registered)
	require.Equal(t, "/k", registered.KeyFile)
}
