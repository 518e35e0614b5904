// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/pipedeck/pipedeck/devenv/gitobjects"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
)

// Checked is an application configuration at Head with what is wrong with it.
type Checked struct {
	// File is relative to Root.
	File string
	// Name is empty where it cannot be read.
	Name   string
	Labels map[string]string
	// Errors keep it from being deployed, each with its file, line and column; warnings do not.
	Errors   []error
	Warnings []string
}

// NoPlugin reports whether nothing is wrong with the file except that the environment lacks plugins for it.
func (c *Checked) NoPlugin() bool {
	return len(c.Errors) > 0 && !slices.ContainsFunc(c.Errors, func(err error) bool {
		var mistake *config.Error
		return !errors.As(err, &mistake) || !mistake.NoPlugin
	})
}

// CheckApplications is [Repository.CheckEach] with the mistakes of all files together.
func (r *Repository) CheckApplications(checker *options.Checker) (warnings []string, err error) {
	all, err := r.CheckEach(checker)
	if err != nil {
		return nil, err
	}
	var problems []error
	for _, one := range all {
		problems = append(problems, one.Errors...)
		warnings = append(warnings, one.Warnings...)
	}
	return warnings, errors.Join(problems...)
}

// CheckEach reads every application configuration at Head, in the order of Applications, and finds all that is wrong
// with each. The checker knows the plugins of the environment, which have to deploy all of them. The error is that of a
// repository that cannot be read.
func (r *Repository) CheckEach(checker *options.Checker) ([]*Checked, error) {
	unread, reports, err := r.checkEach(checker)
	if err != nil {
		return nil, err
	}
	checker.CheckTogether(reports...)
	r.Manual = manual(reports)
	r.labels = map[string]map[string]string{}
	byFile := map[string]*config.Report{}
	for _, report := range reports {
		byFile[report.File()] = report
	}
	all := make([]*Checked, 0, len(r.Applications))
	for _, name := range r.Applications {
		one := &Checked{File: name}
		all = append(all, one)
		report := byFile[name]
		if report == nil {
			one.Errors = append(one.Errors, unread[name])
			continue
		}
		one.take(report)
		r.labels[name] = one.Labels
	}
	return all, nil
}

func (c *Checked) take(report *config.Report) {
	if a := report.Application; a != nil {
		c.Name, c.Labels = a.Name, a.Labels
		if a.Name == "" && len(report.V0) == 0 {
			// PipeCD v1: only an application with a name is offered for registration.
			report.Add("spec.name", "is missing; without it the application is not registered")
			report.Sort()
		}
	}
	for _, problem := range report.Errors {
		c.Errors = append(c.Errors, problem)
	}
	for _, warning := range report.Warnings {
		c.Warnings = append(c.Warnings, warning.Error())
	}
}

// manual returns the names of the applications that only users deploy. Where any application has a chain, those that
// accept chains are not among them.
func manual(reports []*config.Report) (names []string) {
	chained := slices.ContainsFunc(reports, func(r *config.Report) bool {
		return r.Application != nil && r.Application.HasChain()
	})
	for _, report := range reports {
		if report.Application != nil && report.Application.Trigger.IsManual(chained) {
			names = append(names, report.Application.Name)
		}
	}
	return names
}

// CheckUnread returns the keys, options and stage names at Head that nothing reads, each with its file, line and
// column: what piped would deploy all the same. Configurations that piped refuses, and shows as broken, are left out.
func (r *Repository) CheckUnread(checker *options.Checker) error {
	_, reports, err := r.checkEach(checker)
	if err != nil {
		return err
	}
	var problems []error
	for _, report := range reports {
		if report.Refused() {
			continue
		}
		for _, problem := range report.Errors {
			problems = append(problems, problem)
		}
	}
	return errors.Join(problems...)
}

// checkEach checks each file by itself. Unread has, by their names, what is wrong with files that cannot be read as a
// configuration at all.
func (r *Repository) checkEach(
	checker *options.Checker,
) (unread map[string]error, reports []*config.Report, err error) {
	unread = map[string]error{}
	checker.Folder = func(name string) (string, bool) { return path.Dir(name), true } // names are those in Git
	repo, err := r.open()
	if err != nil {
		return nil, nil, fmt.Errorf("open the Git repository %s: %w", r.Root, err)
	}
	for _, name := range r.Applications {
		entry := r.files[name]
		if entry.Mode == filemode.Symlink {
			unread[name] = fmt.Errorf("%s is a symbolic link: piped reads configuration from regular files only; "+
				"commit a copy of the file", name)
			continue
		}
		content, size, err := readConfiguration(repo, entry.Hash)
		if err != nil {
			return nil, nil, damaged(r.Root, fmt.Errorf("read %s at commit %s: %w", name, line.Commit(r.Head), err))
		}
		if size > config.MaxSize {
			unread[name] = fmt.Errorf("%s:1:1: the file is larger than %d KiB; a configuration is never that large",
				name, config.MaxSize>>10)
			continue
		}
		report := config.Check(content, name)
		checker.CheckOptions(report)
		reports = append(reports, report)
	}
	return unread, reports, nil
}

// Configurations returns the application configurations at Head as agents read them, by their files. A file that agents
// refuse has errors.
func (r *Repository) Configurations() (map[string]*config.Report, error) {
	repo, err := r.open()
	if err != nil {
		return nil, fmt.Errorf("open the Git repository %s: %w", r.Root, err)
	}
	read := make(map[string]*config.Report, len(r.Applications))
	for _, name := range r.Applications {
		if r.files[name].Mode == filemode.Symlink {
			read[name] = config.Refuse(name, "is a symbolic link")
			continue
		}
		content, size, err := readConfiguration(repo, r.files[name].Hash)
		switch {
		case err != nil:
			return nil, damaged(r.Root, fmt.Errorf("read %s at commit %s: %w", name, line.Commit(r.Head), err))
		case size > config.MaxSize:
			read[name] = config.Refuse(name, fmt.Sprintf("is larger than %d KiB", config.MaxSize>>10))
		default:
			read[name] = config.ReadApplication(content, name)
		}
	}
	return read, nil
}

// Misnamed returns the files at Head that configure an application, and that piped does not find by their names.
func (r *Repository) Misnamed() (files []string, err error) {
	if len(r.lookalikes) == 0 {
		return nil, nil
	}
	repo, err := r.open()
	if err != nil {
		return nil, fmt.Errorf("open the Git repository %s: %w", r.Root, err)
	}
	for _, name := range r.lookalikes {
		content, size, err := readConfiguration(repo, r.files[name].Hash)
		if err != nil {
			return nil, damaged(r.Root, fmt.Errorf("read %s at commit %s: %w", name, line.Commit(r.Head), err))
		}
		if size <= config.MaxSize && config.Claimed(content, name) && config.Check(content, name).Application != nil {
			files = append(files, name)
		}
	}
	return files, nil
}

// readConfiguration returns a file, or only its size when that is more than a configuration may have.
func readConfiguration(repo *gitobjects.Repository, id plumbing.Hash) (content []byte, size int64, err error) {
	blob, err := repo.Blob(id)
	if err != nil || blob.Size() > config.MaxSize {
		if err == nil {
			size = blob.Size()
		}
		return nil, size, err
	}
	reader, err := blob.Reader()
	if err != nil {
		return nil, 0, err
	}
	defer reader.Close()
	content, err = io.ReadAll(reader)
	return content, blob.Size(), err
}
