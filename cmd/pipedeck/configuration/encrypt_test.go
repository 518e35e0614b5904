// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestASecretIsReadWithoutTheLineBreakOfItsLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"open sesame": "open sesame", "open sesame\n": "open sesame", "open sesame\r\n": "open sesame",
		" spaces stay \n":             " spaces stay ",
		"-----BEGIN\nkey\n-----END\n": "-----BEGIN\nkey\n-----END\n",
	} {
		got, err := readSecret(t.Context(), strings.NewReader(in), io.Discard, false)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for in, problem := range map[string]string{"": "is empty", "\n": "is empty",
		strings.Repeat("x", maxSecret+1): "more than 256 KiB"} {
		_, err := readSecret(t.Context(), strings.NewReader(in), io.Discard, false)
		require.ErrorContains(t, err, problem)
	}
}

func TestASecretThatIsNoTextGoesAsBase64Only(t *testing.T) {
	t.Parallel()
	const binary = "\xff\xfe\x00key"
	_, err := readSecret(t.Context(), strings.NewReader(binary), io.Discard, false)
	require.ErrorContains(t, err, "not text in UTF-8")
	var failure *exit.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, exit.WrongUsage, failure.Code)
	require.Contains(t, failure.Hint, "--base64")

	got, err := readSecret(t.Context(), strings.NewReader(binary), io.Discard, true)
	require.NoError(t, err)
	require.Equal(t, "//4Aa2V5", got)
}

func TestTheEncryptedTextIsAllThatStandardOutputGets(t *testing.T) {
	t.Parallel()
	var out, help bytes.Buffer
	require.NoError(t, printEncrypted(&out, &help, "token", "AQCy", &format.Output{}))
	require.Equal(t, "AQCy\n", out.String())
	require.Contains(t, help.String(), "      token: AQCy\n")
	out.Reset()
	help.Reset()
	require.NoError(t, printEncrypted(&out, &help, "token", "AQCy", clitest.JSON(t)))
	var encrypted document.Encrypted
	clitest.Document(t, "encrypted", out.String(), &encrypted)
	require.Equal(t, "token", encrypted.Name)
	require.Equal(t, "AQCy", encrypted.Ciphertext)
	require.Empty(t, help.String())
}
