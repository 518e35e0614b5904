// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/revision"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config/options"
)

// Compare returns the range from the commit that ref names to the HEAD of a repository. With changed, only applications
// that the range touches are deployed. The checker knows the plugins of the environment, which may lack those of the
// base; nil checks nothing.
func Compare(ctx context.Context, head *workspace.Repository, ref string, changed bool,
	checker *options.Checker) (*Range, error) {
	found, err := revision.Find(ctx, head.Root, ref)
	if missing := (*revision.MissingError)(nil); errors.As(err, &missing) {
		return nil, exit.Usage(fmt.Errorf("--from: %w", err), missing.Hint)
	}
	if err != nil {
		return nil, notCompared(ctx, ref, err)
	}
	r := &Range{Ref: ref, Name: found.Name, Head: head.Head, Changed: changed}
	if r.Base, err = head.At(found.Commit); err != nil {
		return nil, err
	}
	if r.Files, err = head.ChangedSince(found.Commit); err != nil {
		return nil, err
	}
	if r.relation, err = revision.Relate(ctx, head.Root, found.Commit, head.Head); err != nil {
		return nil, notCompared(ctx, ref, err)
	}
	if checker != nil {
		if r.Checked, err = r.Base.CheckEach(checker); err != nil {
			return nil, err
		}
	}
	return r, r.read(head)
}

// read reads the configurations of both commits, and decides about the applications.
func (r *Range) read(head *workspace.Repository) (err error) {
	r.decision = &decision{files: r.Files, from: r.Base.Head, to: r.Head, unsound: map[string]string{}}
	if r.decision.base, err = r.Base.Configurations(); err != nil {
		return err
	}
	if r.decision.head, err = head.Configurations(); err != nil {
		return err
	}
	for _, one := range r.Checked {
		if len(one.Errors) > 0 && r.decision.base.application(one.File) != nil {
			r.decision.unsound[one.File] = one.Errors[0].Error()
		}
	}
	return r.decide()
}

// notCompared is the error of git. A run that was interrupted or out of time is not the user's mistake.
func notCompared(ctx context.Context, ref string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return exit.Usage(fmt.Errorf("--from %s: %w", ref, err), "correct what git reports, and run again")
}

// decide finds the fate of each application.
func (r *Range) decide() error {
	applications, err := r.decision.decide()
	if err != nil {
		return exit.Usage(err, "correct the pattern, commit it, and run again")
	}
	named := map[string]int{}
	for _, a := range applications {
		named[a.Name]++
	}
	for i := range applications {
		a := &applications[i]
		a.twice = named[a.Name] > 1
		a.AtBase = a.AtBase && (a.AtHead || !r.Changed)
	}
	r.Applications = applications
	return nil
}

// LeaveOut deploys the applications that out reports true for at neither commit, by their configuration files, and so
// nothing of the chains that only they begin.
func (r *Range) LeaveOut(out func(file string) bool) error {
	r.decision.leftOut = out
	return r.decide()
}

// Selects reports by its configuration file whether an application may be deployed.
func (r *Range) Selects(file string) bool {
	if r.decision != nil && r.decision.isOut(file) {
		return false
	}
	return !r.Changed || slices.ContainsFunc(r.Applications, func(a Application) bool {
		return a.File == file && a.AtHead
	})
}

// Selected returns the applications of HEAD that may be deployed, as a repository.
func (r *Range) Selected(head *workspace.Repository) *workspace.Repository {
	return head.Only(r.Selects)
}

// SelectedBase is Selected for the base.
func (r *Range) SelectedBase() *workspace.Repository { return r.Base.Only(r.Selects) }

// DeploysBase reports whether anything is deployed at the base.
func (r *Range) DeploysBase() bool { return len(r.awaited(atBase)) > 0 }

// DeploysHead reports whether anything is deployed at HEAD.
func (r *Range) DeploysHead() bool { return len(r.awaited(atHead)) > 0 }

// Touches reports whether the range touches an application that HEAD has.
func (r *Range) Touches() bool {
	return slices.ContainsFunc(r.Applications, func(a Application) bool { return a.Touched || a.AtHead })
}

func atBase(a Application) bool { return a.AtBase }
func atHead(a Application) bool { return a.AtHead }

func (r *Range) awaited(when func(Application) bool) (awaited []Application) {
	for _, a := range r.Applications {
		if when(a) {
			awaited = append(awaited, a)
		}
	}
	return awaited
}

// phase is the deployment of one of the two commits.
func (r *Range) phase(commit string, when func(Application) bool) *phase {
	p := &phase{commit: commit, awaited: r.awaited(when), base: r.Base.Head, unsound: map[string]bool{}}
	for _, a := range r.Applications {
		p.unsound[a.File] = a.unsound
	}
	return p
}

// Notes say what a reader has to know of the range before anything is deployed.
func (r *Range) Notes() []string {
	base := r.base()
	notes := []string{fmt.Sprintf("base %s is %s; HEAD is %s; %s", line.Commit(r.Base.Head), r.Name,
		line.Commit(r.Head), differ(len(r.Files)))}
	switch {
	case r.Base.Head == r.Head:
		notes = append(notes, base+" is HEAD itself: there is no change to deploy")
	case r.relation == revision.Apart:
		notes = append(notes, base+" is not an ancestor of HEAD: HEAD also undoes what only the base has")
	case r.relation == revision.Unknown:
		notes = append(notes, fmt.Sprintf("this shallow clone does not show whether %s is an ancestor of HEAD; "+
			"where it is not, HEAD also undoes what only the base has", base))
	}
	switch {
	case len(r.Base.Applications) == 0:
		notes = append(notes, base+" has no application: each one of HEAD is deployed for the first time")
	case !r.DeploysBase() && r.DeploysHead():
		notes = append(notes, "nothing is deployed at "+base)
	}
	switch {
	case !r.Touches():
		notes = append(notes, "the range touches no application")
	case !r.DeploysHead():
		notes = append(notes, "nothing is deployed at HEAD "+line.Commit(r.Head))
	}
	for _, a := range r.Applications {
		if note := r.note(a); note != "" {
			notes = append(notes, a.Title()+": "+note)
		}
	}
	return notes
}

// Untouched says that the range touches no application, and which configurations it deletes.
func (r *Range) Untouched() string {
	words := r.Name + "..HEAD touches no application"
	var removed []string
	for _, a := range r.Applications {
		if a.Fate == Removed {
			removed = append(removed, a.Title())
		}
	}
	if len(removed) > 0 {
		words += "; it removes " + strings.Join(removed, ", ") + ", which pipedeck does not delete"
	}
	return words
}

func (r *Range) base() string { return "base " + line.Commit(r.Base.Head) }

func differ(files int) string {
	if files == 1 {
		return "1 file differs"
	}
	return fmt.Sprintf("%d files differ", files)
}

// note is empty for an application of which the final lines say enough.
func (r *Range) note(a Application) string {
	switch a.Fate {
	case New, Removed, Undeployed:
		return a.Why
	case Unchanged:
		if r.Changed {
			return "unchanged, not deployed"
		}
	}
	return ""
}

// Title names an application for users. The directory follows the name where another application has the same one, such
// as before a move.
func (a Application) Title() string {
	switch {
	case a.Name == "":
		return a.File
	case a.twice:
		return a.Name + " in " + path.Dir(a.File)
	}
	return a.Name
}

// all returns the configuration files of both commits, sorted.
func (d *decision) all() []string {
	all := map[string]bool{}
	for _, one := range []configurations{d.base, d.head} {
		for file := range one {
			all[file] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}
