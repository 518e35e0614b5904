// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/signature"
	"github.com/pipedeck/pipedeck/system/inputfile"
	"github.com/pipedeck/pipedeck/tui/document"
)

// signFlags say who signs how.
type signFlags struct {
	key, format, comment string
	generate, noPassword bool
	output               format.Output
}

func newSignCommand() *cobra.Command {
	var flags signFlags
	cmd := &cobra.Command{
		Use: "sign [FILE|URL]", Short: "Sign the binary of a plugin, or create the key for that",
		Args: cobra.MaximumNArgs(1),
		Long: `Sign a binary with a key of minisign, or with one of cosign for a bundle of Sigstore. The signature of
FILE is written next to it. With the oci:// URL of a plugin, the binaries of all its platforms are
signed as the registry has them, and the signatures are put there; give the URL that push printed,
with the digest.

--generate-key creates the key: FILE of --key, which is private, and FILE.pub. The command asks for the password of
a key on a terminal, or reads the variable ` + passwordVariable + `; it is never an argument.`,
		Example: `  pipedeck plugin sign --generate-key --key release.key
  pipedeck plugin sign dist/my-plugin --key release.key
  pipedeck plugin sign oci://registry.example/team/my-plugin:v1@sha256:… --key cosign.key`,
		RunE: func(cmd *cobra.Command, args []string) error {
			key, err := flags.load(cmd)
			if err != nil {
				return err
			}
			var signed []document.SignedBinary
			if len(args) > 0 {
				if signed, err = flags.sign(cmd.Context(), args[0], key); err != nil {
					return err
				}
			} else if !flags.generate {
				return exit.Usage(errors.New("there is nothing to sign"),
					"name the binary, or make a key with --generate-key")
			}
			return flags.show(cmd.OutOrStdout(), cmd.ErrOrStderr(), signed, key.Public())
		},
	}
	cmd.Flags().StringVar(&flags.key, "key", "", "`FILE` of the private key")
	cmd.Flags().BoolVar(&flags.generate, "generate-key", false, "make the key first")
	cmd.Flags().BoolVar(&flags.noPassword, "no-password", false, "with --generate-key: do not encrypt the private key")
	cmd.Flags().StringVar(&flags.format, "format", "",
		"minisign or sigstore (default that of the key; for a new one minisign)")
	cmd.Flags().StringVar(&flags.comment, "comment", "",
		"a line that signatures of minisign hold and pipedeck plugin verify shows (default the name of the file "+
			"or the url)")
	format.AddFlag(cmd, &flags.output)
	return cmd
}

// load reads the key, after it was made where that is wanted.
func (f *signFlags) load(cmd *cobra.Command) (*signature.PrivateKey, error) {
	form := signature.Form(f.format)
	switch {
	case f.format != "" && form != signature.Minisign && form != signature.Sigstore:
		return nil, exit.Usage(fmt.Errorf("--format %q is unknown", f.format), "use minisign or sigstore")
	case f.key == "":
		return nil, exit.Usage(errors.New("no key is given"), "name its file with --key FILE; --generate-key makes one")
	case strings.ContainsAny(f.comment, "\r\n"):
		return nil, exit.Usage(errors.New("the comment has more than one line"), "give one line with --comment")
	case f.noPassword && !f.generate:
		return nil, exit.Usage(errors.New("--no-password is only for --generate-key"), "leave it away")
	}
	passwords := passwordSource{in: cmd.InOrStdin(), prompt: cmd.ErrOrStderr()}
	if f.generate {
		if form == "" {
			form = signature.Minisign
		}
		return generateKey(cmd.Context(), f.key, form, f.noPassword, passwords)
	}
	key, err := loadKey(cmd.Context(), f.key, passwords)
	if err == nil && form != "" && form != key.Public().Form() {
		return nil, exit.Usage(fmt.Errorf("%s is a key of %s", f.key, key.Public().Form()),
			"give another --key, or leave --format away")
	}
	return key, err
}

func (f *signFlags) sign(ctx context.Context, what string, key *signature.PrivateKey) ([]document.SignedBinary, error) {
	if strings.Contains(what, "://") && !strings.HasPrefix(what, "file://") {
		return f.signRemote(ctx, what, key)
	}
	path := strings.TrimPrefix(what, "file://")
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, exit.Usage(err, "name the binary of the plugin")
	}
	defer file.Close()
	comment := f.comment
	if comment == "" {
		comment = filepath.Base(path)
	}
	text, err := key.Sign(file, comment)
	if err != nil {
		return nil, exit.Usage(err, "name the binary of the plugin")
	}
	digest, err := fetch.Digest(path)
	if err != nil {
		return nil, err
	}
	signed := document.SignedBinary{SHA256: digest, Signature: path + key.Public().Form().Extension()}
	if err := os.WriteFile(signed.Signature, text, 0o644); err != nil {
		return nil, fmt.Errorf("write the signature: %w", err)
	}
	return []document.SignedBinary{signed}, nil
}

func (f *signFlags) signRemote(ctx context.Context, url string, key *signature.PrivateKey) ([]document.SignedBinary,
	error) {
	done, err := remoteFetcher().Sign(ctx, url, newSigner(key, f.comment, url))
	switch {
	case ctx.Err() != nil:
		return nil, exit.Silent(exit.Interrupted)
	case err != nil:
		return nil, exit.With(exit.Failed, err, "correct it and sign again; what is signed by this key already is "+
			"not signed twice")
	}
	var signed []document.SignedBinary
	for _, one := range done {
		signed = append(signed, document.SignedBinary{Platform: one.Platform, SHA256: one.SHA256, Before: one.Before})
	}
	return signed, nil
}

func newSigner(key *signature.PrivateKey, comment, url string) *fetch.Signer {
	if comment == "" {
		comment = fetch.Redact(url)
	}
	return &fetch.Signer{Key: key, Comment: comment}
}

// show prints what was signed, and to standard error what the piped configuration wants.
func (f *signFlags) show(stdout, stderr io.Writer, signed []document.SignedBinary, key signature.PublicKey) error {
	if f.output.Machine() {
		return f.output.Document(stdout, document.Signing{
			Head: document.NewHead(), PublicKey: key.String(), Signed: document.List(signed),
		})
	}
	for _, one := range signed {
		line := one.Signature
		if line == "" {
			line = "signed " + one.Platform + " sha256:" + one.SHA256
			if one.Before {
				line = "was signed before: " + one.Platform + " sha256:" + one.SHA256
			}
		}
		if _, err := fmt.Fprintln(stdout, line); err != nil {
			return err
		}
	}
	text := strings.TrimSpace(key.String())
	if key.Form() == signature.Sigstore {
		text = "|\n  " + strings.ReplaceAll(text, "\n", "\n  ")
	}
	_, err := fmt.Fprintf(stderr, `
In the piped configuration, the plugin is bound to this key with:

signature:
  publicKey: %s
`, strings.ReplaceAll(text, "\n", "\n  "))
	return err
}
