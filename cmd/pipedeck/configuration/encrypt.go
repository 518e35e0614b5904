// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/prompt"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
)

// maxSecret is in bytes; an encrypted secret may have 512 KiB, a third more than its text.
const maxSecret = 256 << 10

// secretName can follow .encryptedSecrets. in a template.
var secretName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func newEncryptCommand(t *session.Target) *cobra.Command {
	var asBase64 bool
	var output format.Output
	recipient := &recipient{}
	cmd := &cobra.Command{
		Use: "encrypt [NAME]", Short: "Encrypt a secret for the environment's piped", Args: cobra.MaximumNArgs(1),
		Long: "Encrypt standard input for the piped of this environment. On a terminal, the command asks for the\n" +
			"secret without showing it. It prints the encrypted text, and on standard error the lines to add to\n" +
			"app.pipecd.yaml. A line break at the end of a single line is not part of the secret.\n\n" +
			"With --key or --piped-config no environment is needed: the secret is encrypted for that key.",
		Example: "  pipedeck encrypt password\n  pipedeck encrypt password < password.txt\n" +
			"  pipedeck encrypt tls --base64 < tls.key\n" +
			"  pipedeck encrypt password --key public.pem < password.txt\n" +
			"  pipedeck encrypt password --piped-config piped.yaml < password.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			name := "password"
			if len(args) > 0 {
				name = args[0]
			}
			if !secretName.MatchString(name) {
				return exit.Usage(fmt.Errorf("%q cannot be the name of a secret", name),
					"use letters, digits and underscores, as in templates: {{ .encryptedSecrets.password }}")
			}
			encrypt, done, err := recipient.choose(cmd.Context(), t)
			if err != nil {
				return err
			}
			defer done()
			secret, err := readSecret(cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr(), asBase64)
			if err != nil {
				return err
			}
			ciphertext, err := encrypt(cmd.Context(), secret)
			if err != nil {
				return err
			}
			return printEncrypted(cmd.OutOrStdout(), cmd.ErrOrStderr(), name, ciphertext, &output)
		},
	}
	cmd.Flags().BoolVar(&asBase64, "base64", false,
		"the secret is the base64 of the text, for the data of a Kubernetes Secret")
	cmd.Flags().StringVar(&recipient.key, "key", "",
		"`FILE` with the public key of a piped: RSA in PEM form, or recipients of age")
	cmd.Flags().StringVar(&recipient.pipedConfig, "piped-config", "",
		"`FILE` with a piped configuration, whose secretManagement names the key")
	cmd.MarkFlagsMutuallyExclusive("key", "piped-config")
	format.AddFlag(cmd, &output)
	return cmd
}

func notEncrypted(err error) error {
	s, _ := status.FromError(err)
	hint := "see pipedeck status"
	switch s.Code() {
	case codes.FailedPrecondition:
		hint = "an environment that is still starting has not published its key yet: see pipedeck status, and try " +
			"again in a moment"
	case codes.Unavailable, codes.DeadlineExceeded:
		return exit.With(exit.NotStarted, errors.New("the environment does not answer"), hint)
	}
	return exit.With(exit.Failed, errors.New(s.Message()), hint)
}

func printEncrypted(stdout, stderr io.Writer, name, ciphertext string, output *format.Output) error {
	if output.Machine() {
		return output.Document(stdout, document.Encrypted{Head: document.NewHead(), Name: name, Ciphertext: ciphertext})
	}
	if _, err := fmt.Fprintln(stdout, ciphertext); err != nil {
		return err
	}
	_, err := fmt.Fprintf(stderr, `
Add it to app.pipecd.yaml, and name the files that use {{ .encryptedSecrets.%s }}:

spec:
  encryption:
    encryptedSecrets:
      %s: %s
    decryptionTargets:
      - secret.yaml
`, name, name, ciphertext)
	return err
}

// readSecret reads all of a pipe or file; on a terminal it asks for a line and shows nothing of it.
// The base64 is made here, because the request holds text and a key may be anything.
func readSecret(ctx context.Context, in io.Reader, questions io.Writer, asBase64 bool) (string, error) {
	var data []byte
	var err error
	if file, ok := in.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		data, err = prompt.Secret(ctx, int(file.Fd()), questions, "Secret (not shown)")
	} else {
		data, err = io.ReadAll(io.LimitReader(in, maxSecret+1))
	}
	switch {
	case ctx.Err() != nil:
		return "", exit.Silent(exit.Interrupted)
	case err != nil:
		return "", fmt.Errorf("read the secret: %w", err)
	case len(data) > maxSecret:
		return "", exit.Usage(fmt.Errorf("the secret has more than %d KiB", maxSecret>>10),
			"encrypt a key, and the file with that")
	}
	text := string(data)
	if strings.Count(text, "\n") == 1 {
		text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	}
	if text == "" {
		return "", exit.Usage(errors.New("the secret is empty"),
			"type it, or give a file: pipedeck encrypt NAME < FILE")
	}
	if asBase64 {
		return base64.StdEncoding.EncodeToString([]byte(text)), nil
	}
	if !utf8.ValidString(text) {
		return "", exit.Usage(errors.New("the secret is not text in UTF-8, and templates fill in text"),
			"encrypt its base64, for the data of a Kubernetes Secret: --base64")
	}
	return text, nil
}
