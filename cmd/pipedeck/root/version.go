// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package root

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/pluginflag"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/version"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/document"
)

// versionFlags are the flags of the version command.
type versionFlags struct {
	verify bool
	key    string
	output format.Output
}

func newVersionCommand() *cobra.Command {
	f := &versionFlags{}
	cmd := &cobra.Command{
		Use:   "version [ARCHIVE]",
		Short: "Print the version, or verify a release",
		Long: `Print the version of this program, and the commit that it was built from where that is known.
With --verify, check that every file of the installed release is as it was released and signed, or that ARCHIVE,
a file of a release, is signed: its signature lies next to it with the ending .minisig. The key is the one that
this program was released with; a program that was replaced may hold another key, so --key gives the one that
you trust.

Exit code 0: nothing was changed; 1: something was; 2: there is no release to verify.`,
		Example: "  pipedeck version -o json\n  pipedeck version --verify\n" +
			"  pipedeck version --verify pipedeck_0.1.0_linux_amd64.tar.gz --key RWQ…",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.verify {
				return f.check(cmd.OutOrStdout(), args)
			}
			if len(args) > 0 || f.key != "" {
				return exit.Usage(errors.New("an archive and a key are for --verify"), "add --verify")
			}
			return f.print(cmd.OutOrStdout())
		},
	}
	cmd.Flags().BoolVar(&f.verify, "verify", false, "check the files of the installed release, or a file of a release")
	cmd.Flags().StringVar(&f.key, "key", "", "public key of minisign (default: the one of this release)")
	format.AddFlag(cmd, &f.output)
	return cmd
}

func (f *versionFlags) print(out io.Writer) error {
	if f.output.Machine() {
		known := version.Read()
		return f.output.Document(out, document.Version{
			Head: document.NewHead(), Version: known.Version, Commit: known.Commit, CommitDate: known.CommitDate,
			Modified: known.Modified, Go: known.Go, Platform: known.Platform,
		})
	}
	_, err := fmt.Fprintln(out, version.Read())
	return err
}

// check verifies the installed release or the file that args name.
func (f *versionFlags) check(out io.Writer, args []string) error {
	key := cmp.Or(f.key, version.PublicKey())
	if key == "" {
		return exit.Usage(errors.New("this program was built from sources and knows no key of a release"),
			"give the key that you trust with --key")
	}
	if len(args) == 1 {
		if err := version.VerifyFile(args[0], key); err != nil {
			return exit.With(exit.Failed, err, "do not use it; download the file and its signature again")
		}
		if f.output.Machine() {
			return f.output.Document(out, document.Verification{
				Head: document.NewHead(), Archive: args[0], Files: 1, Key: key,
			})
		}
		_, err := fmt.Fprintf(out, "%s is signed by the key %s\n", args[0], key)
		return err
	}
	bin, err := pluginflag.ProgramDir()
	if err != nil {
		return err
	}
	dir, err := version.FindRelease(filepath.Join(bin, "pipedeck"))
	if err != nil {
		return exit.Usage(fmt.Errorf("verify %s: %w", bin, err), "install a release, or name one of its files")
	}
	release, err := version.VerifyRelease(dir, key)
	if err != nil {
		return exit.With(exit.Failed, fmt.Errorf("the release in %s is not as it was published: %w", dir, err),
			"install it again")
	}
	if f.output.Machine() {
		return f.output.Document(out, document.Verification{
			Head: document.NewHead(), Version: release.Version, Platform: release.Platform, Files: len(release.Files),
			Key: key,
		})
	}
	_, err = fmt.Fprintf(out, "pipedeck %s for %s: %s are as released and signed by the key %s\n", release.Version,
		release.Platform, line.Count(len(release.Files), "file"), key)
	return err
}

// addVersionFlag gives the root command --version, which prints the same as `pipedeck version`.
func addVersionFlag(root *cobra.Command) {
	root.Version = version.Read().String()
	root.SetVersionTemplate("{{.Version}}\n")
	root.Flags().Bool("version", false, "print the version")
}
