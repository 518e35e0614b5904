// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/preview"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/resolve"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

func newDiffCommand(t *session.Target) *cobra.Command {
	var output format.Output
	var commit string
	var exitCode, refresh bool
	cmd := &cobra.Command{
		Use: "diff APP", Short: "Show how an application differs from Git", Args: cobra.ExactArgs(1),
		Long: `Show the fields in which the live resources of an application differ from Git, and who changed
them. Lines with - are live, lines with + are in Git.
With --refresh: piped looks at the live state now, and the command waits until it has.
With --commit: what merging that commit would change in the cluster, as pipedeck plan-preview shows it
for all applications.`,
		Example: "  pipedeck diff hello-world\n  pipedeck diff hello-world --exit-code\n" +
			"  pipedeck diff hello-world --refresh\n" +
			"  pipedeck diff hello-world --commit feature",
		RunE: func(cmd *cobra.Command, args []string) error {
			if refresh {
				err := t.RunLong(cmd, func(ctx context.Context, s *session.Session) error {
					return lookNow(ctx, s, resolve.New(s, cmd, args).Argument(0))
				})
				if err != nil {
					return err
				}
			}
			if commit == "" {
				return t.Run(cmd, func(ctx context.Context, s *session.Session) error {
					return showDiff(ctx, s, resolve.New(s, cmd, args).Argument(0), exitCode, &output)
				})
			}
			return t.RunLong(cmd, func(ctx context.Context, s *session.Session) error {
				return showCommitDiff(ctx, s, resolve.New(s, cmd, args).Argument(0), commit, &output)
			})
		},
	}
	resolve.GivenVar(cmd.Flags(), &commit, "commit", "show what merging this `COMMIT` would change instead")
	cmd.Flags().BoolVar(&exitCode, "exit-code", false, "exit with 1 when there are differences")
	cmd.Flags().BoolVar(&refresh, "refresh", false, "have piped look at the live state now, and wait for it")
	cmd.MarkFlagsMutuallyExclusive("commit", "exit-code")
	cmd.MarkFlagsMutuallyExclusive("commit", "refresh")
	format.AddFlag(cmd, &output)
	return cmd
}

func showDiff(ctx context.Context, s *session.Session, word resolve.Word, exitCode bool, output *format.Output) error {
	app, err := word.Application()
	if err != nil {
		return err
	}
	rows, err := readResources(ctx, s, app)
	if err != nil {
		return err
	}
	warnOfProblem(s, app)
	var drifted []*deckv1.Resource
	for _, row := range rows {
		if row.GetDrift() != "" {
			drifted = append(drifted, row.Resource)
		}
	}
	if output.Machine() {
		err = output.Document(s.Out, document.NewResources(app, drifted))
	} else {
		err = printDiff(s.Out, app, len(rows), drifted, format.Colours(s.Out))
	}
	if err == nil && exitCode && (len(drifted) > 0 || isBehind(app)) {
		return exit.Silent(exit.Failed)
	}
	return err
}

// isBehind reports whether an application differs from Git however its resources are: its newest commit was not
// deployed, or what runs is not known.
func isBehind(app *deckv1.Application) bool {
	switch app.GetSync() {
	case deckv1.SyncStatus_SYNC_STATUS_SYNCED, deckv1.SyncStatus_SYNC_STATUS_DEPLOYING:
		return false
	}
	return true
}

// printDiff writes the differences for users, one resource after the other.
func printDiff(w io.Writer, app *deckv1.Application, all int, drifted []*deckv1.Resource, paint format.Painter) error {
	var b strings.Builder
	if len(drifted) == 0 {
		fmt.Fprintf(&b, "%s: none of %d live resources differs from Git%s\n", text.Line(app.GetName()), all,
			behind(app))
		writeReason(&b, app)
	}
	for i, r := range drifted {
		if i > 0 {
			b.WriteByte('\n')
		}
		r = proto.CloneOf(r)
		text.CleanMessage(r)
		printResourceDiff(&b, r, paint)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// behind is the end of the sentence that no resource differs, for an application that is not as in Git all the same.
func behind(app *deckv1.Application) string {
	if !isBehind(app) {
		return ""
	}
	return ", but the application is " + strings.TrimSuffix(document.Word(app.GetSync())+": "+
		text.Line(cmp.Or(app.GetSyncShortReason(), app.GetSyncReason())), ": ")
}

// writeReason writes the lines of why an application is not as in Git, where one line does not say it all: a change
// of an output of Terraform, for one, is that of no resource.
func writeReason(b *strings.Builder, app *deckv1.Application) {
	short, reason := text.Line(app.GetSyncShortReason()), app.GetSyncReason()
	if !isBehind(app) || short == "" || text.Line(reason) == "" || text.Line(reason) == short {
		return
	}
	fmt.Fprintln(b, indented(text.Clean(reason), "  "))
}

func printResourceDiff(b *strings.Builder, r *deckv1.Resource, paint format.Painter) {
	name := r.GetName()
	if r.GetNamespace() != "" {
		name = r.GetNamespace() + "/" + name
	}
	fmt.Fprintf(b, "%s  at %s\n", paint.Of('*', r.GetKind()+" "+name), r.GetDeployTarget())
	fmt.Fprintf(b, "%s\n", paint.Of('!', indented(r.GetDrift(), "  ")))
	for _, f := range r.GetFields() {
		fmt.Fprintf(b, "  %s: %s\n", f.GetPath(), view.Verdict(f))
	}
	if n := r.GetMoreFields(); n > 0 {
		fmt.Fprintf(b, "  and %s\n", view.Count(int(n), "more field"))
	}
	if reason := r.GetPutBackRefused(); reason != "" {
		fmt.Fprintf(b, "%s\n", indented("a sync would not put it back: "+reason, "  "))
	}
	for line := range strings.Lines(view.Drift{Resource: r}.Text()) {
		line = strings.TrimSuffix(line, "\n")
		fmt.Fprintf(b, "    %s\n", paint.Of(line[0], line))
	}
}

// indented puts every line behind the indent.
func indented(text, indent string) string {
	return indent + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+indent)
}

func showCommitDiff(ctx context.Context, s *session.Session, word resolve.Word, commit string,
	output *format.Output) error {
	app, err := word.Application()
	if err != nil {
		return err
	}
	of := preview.Commit{Directory: s.State.Environment().GetRepository(), Revision: commit}
	return preview.Application(ctx, s, app, of, output)
}
