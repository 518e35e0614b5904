// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/spf13/cobra"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/limit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/gitobjects"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

// DefaultTimeout bounds a preview where the user does not say how long to wait.
const DefaultTimeout = 5 * time.Minute

// previewOptions is what the user wants to see.
type previewOptions struct {
	branch, commit string
	timeout        time.Duration
	output         format.Output
}

// NewCommand returns the command plan-preview.
func NewCommand(t *session.Target) *cobra.Command {
	options := previewOptions{}
	cmd := &cobra.Command{
		Use: "plan-preview", Short: "Show what merging a branch would deploy", Args: cobra.NoArgs,
		Long: `Merge a commit of the watched repository into the branch that the environment watches, in a copy,
and show the strategy and the changes in the cluster for each application that the merge would deploy.
The command merges, commits and applies nothing. Without --branch and --commit it previews what you have
checked out.

The exit code is 1 when the branches conflict, or when an application could not be deployed.`,
		Example: `  pipedeck plan-preview
  pipedeck plan-preview --branch feature
  pipedeck plan-preview --branch origin/feature --timeout 1m
  pipedeck plan-preview --commit 3f2b9c1 -o json
  pipedeck plan-preview -o markdown > comment.md`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if options.branch != "" && options.commit != "" {
				return exit.Usage(errors.New("give --branch or --commit, not both"), "see pipedeck plan-preview --help")
			}
			if options.timeout < time.Second {
				return exit.Usage(fmt.Errorf("--timeout %s is too short", options.timeout), "give a second or more")
			}
			return t.RunLong(cmd, func(ctx context.Context, s *session.Session) error {
				return planPreview(ctx, s, options)
			})
		},
	}
	cmd.Flags().StringVar(&options.branch, "branch", "", "branch of the watched repository to preview")
	cmd.Flags().StringVar(&options.commit, "commit", "", "commit of the watched repository to preview")
	limit.Var(cmd.Flags(), &options.timeout, "timeout", DefaultTimeout, "give up after this time")
	format.AddPageFlag(cmd, &options.output)
	return cmd
}

func planPreview(ctx context.Context, s *session.Session, options previewOptions) error {
	name, hash, err := findHead(ctx, s.State.Environment().GetRepository(), options)
	if err != nil {
		return err
	}
	result, err := askPreview(ctx, s.Previews, &deckv1.PlanPreviewRequest{
		HeadBranch: name, HeadCommit: hash, Timeout: durationpb.New(options.timeout),
	}, s.Err)
	if err != nil {
		return err
	}
	switch {
	case options.output.Machine():
		err = options.output.Document(s.Out, document.NewPlanPreview(result))
	case options.output.Markdown():
		_, err = io.WriteString(s.Out, previewPage(result))
	default:
		text.CleanMessage(result)
		err = printPreview(s.Out, result, format.Colours(s.Out))
	}
	if err == nil && previewFailed(result) {
		err = exit.Silent(exit.Failed) // said above
	}
	return err
}

// findHead resolves what the user has named in the repository, and gives its name and its full hash.
func findHead(ctx context.Context, dir string, options previewOptions) (name, hash string, err error) {
	if dir == "" {
		return "", "", exit.With(exit.NotStarted, errors.New("the environment has not opened its repository yet"),
			"try again in a moment")
	}
	repository, err := gitobjects.Open(dir)
	if err != nil {
		return "", "", fmt.Errorf("open the watched repository %s: %w", dir, err)
	}
	switch {
	case options.commit != "":
		id, err := findCommit(ctx, repository, options.commit)
		if err != nil {
			return "", "", exit.Usage(fmt.Errorf("there is no commit %q in %s", options.commit, dir),
				"list them with: git -C "+dir+" log --oneline --all")
		}
		return line.Commit(id), id, nil
	case options.branch != "":
		if found, err := repository.Branch(options.branch); err == nil {
			return options.branch, found.Hash().String(), nil
		}
		return "", "", exit.Usage(fmt.Errorf("there is no branch %q in %s", options.branch, dir),
			"list them with: git -C "+dir+" branch --all")
	}
	head, err := repository.Resolve(plumbing.HEAD)
	if err != nil {
		return "", "", exit.Usage(fmt.Errorf("read what is checked out in %s: %w", dir, err),
			"name a branch with --branch")
	}
	name = head.Name().Short()
	if !head.Name().IsBranch() {
		name = line.Commit(head.Hash().String())
	}
	return name, head.Hash().String(), nil
}

// findCommit returns the full hash of a commit. Git resolves what is not one.
func findCommit(ctx context.Context, repository *gitobjects.Repository, revision string) (string, error) {
	if plumbing.IsHash(revision) {
		_, err := repository.Commit(plumbing.NewHash(revision))
		return revision, err
	}
	cmd := exec.CommandContext(ctx, "git", "--git-dir="+filepath.Join(repository.Root, ".git"), "rev-parse", "--verify",
		"--quiet", "--end-of-options", revision+"^{commit}")
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// askPreview waits for the result. Leaving before takes the request back.
func askPreview(ctx context.Context, previews deckv1.PlanPreviewServiceClient, r *deckv1.PlanPreviewRequest,
	stderr io.Writer) (*deckv1.PlanPreview, error) {
	stream, err := previews.PlanPreview(ctx, r)
	for err == nil {
		var answer *deckv1.PlanPreviewResponse
		if answer, err = stream.Recv(); err != nil {
			break
		}
		if result := answer.GetResult(); result != nil {
			return result, nil
		}
		p := answer.GetProgress()
		fmt.Fprintf(stderr, "waiting for piped: what merging %s (%s) into %s would deploy (%d of %d answered)\n",
			text.Line(r.GetHeadBranch()), line.Commit(r.GetHeadCommit()), text.Line(p.GetBaseBranch()), p.GetAnswered(),
			p.GetAsked())
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case status.Code(err) == codes.DeadlineExceeded:
		return nil, exit.With(exit.TimedOut, errors.New("piped did not answer in time"),
			"give more time with --timeout, or see pipedeck status")
	case status.Code(err) == codes.Unimplemented:
		return nil, exit.With(exit.NotStarted, errors.New("the environment is of an older pipedeck, which has no "+
			"plan previews"), "end it with pipedeck down, and start it again")
	}
	return nil, session.Unreachable(err)
}

func previewFailed(p *deckv1.PlanPreview) bool {
	failed := len(p.GetErrors()) > 0
	for _, a := range p.GetApplications() {
		failed = failed || a.GetError() != ""
	}
	return failed
}
