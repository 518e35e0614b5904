// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package preview

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"google.golang.org/protobuf/types/known/durationpb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Commit names a commit of the repository in a directory.
type Commit struct{ Directory, Revision string }

// Application prints what merging a commit would change for one application. A failed preview ends with exit.Failed
// after it was printed.
func Application(ctx context.Context, s *session.Session, app *deckv1.Application, of Commit,
	output *format.Output) error {
	name, hash, err := findCommitOf(ctx, app, of)
	if err != nil {
		return err
	}
	all, err := askPreview(ctx, s.Previews, &deckv1.PlanPreviewRequest{
		HeadBranch: name, HeadCommit: hash, Timeout: durationpb.New(DefaultTimeout), Repository: app.GetRepositoryId(),
	}, s.Err)
	if err != nil {
		return err
	}
	all.Applications = slices.DeleteFunc(all.Applications, func(one *deckv1.ApplicationPlanPreview) bool {
		return one.GetId() != app.GetId()
	})
	if output.Machine() {
		err = output.Document(s.Out, document.NewPlanPreview(all))
	} else {
		text.CleanMessage(all)
		err = printOne(s.Out, app.GetName(), all, format.Colours(s.Out))
	}
	if err == nil && previewFailed(all) {
		err = exit.Silent(exit.Failed) // said above
	}
	return err
}

// findCommitOf resolves a commit of the repository on this machine. That of another repository has to be a full hash,
// because it cannot be looked up here.
func findCommitOf(ctx context.Context, app *deckv1.Application, of Commit) (name, hash string, err error) {
	if id := app.GetRepositoryId(); id == "" || id == workspace.RepositoryID {
		return findHead(ctx, of.Directory, previewOptions{commit: of.Revision})
	}
	if !plumbing.IsHash(of.Revision) {
		return "", "", exit.Usage(fmt.Errorf("commit %q of repository %s is not a full hash", of.Revision,
			app.GetRepositoryId()), "give all 40 digits: its repository is not on this machine")
	}
	return line.Commit(of.Revision), of.Revision, nil
}

// printOne writes the preview of one application, whose text is clean already.
func printOne(w io.Writer, name string, p *deckv1.PlanPreview, paint format.Painter) error {
	var b strings.Builder
	for _, e := range p.GetErrors() {
		fmt.Fprintf(&b, "%s\n", paint.Of('!', indented("error: "+e, "")))
	}
	for _, a := range p.GetApplications() {
		printApplication(&b, a, paint)
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "merging commit %s into %s does not change %s\n", line.Commit(p.GetHeadCommit()),
			p.GetBaseBranch(), text.Line(name))
	}
	_, err := io.WriteString(w, strings.TrimPrefix(b.String(), "\n"))
	return err
}
