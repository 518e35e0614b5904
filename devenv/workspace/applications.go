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

// CheckApplications reads every application configuration at Head and returns all that is wrong with them, each with
// its file, line and column. Warnings do not keep them from being deployed. The checker knows the plugins of the
// environment, which have to deploy all of them.
func (r *Repository) CheckApplications(checker *options.Checker) (warnings []string, err error) {
	problems, reports, err := r.checkEach(checker)
	if err != nil {
		return nil, err
	}
	checker.CheckTogether(reports...)
	for _, report := range reports {
		if report.Application != nil && report.Application.Name == "" && len(report.V0) == 0 {
			// PipeCD v1: only an application with a name is offered for registration.
			report.Add("spec.name", "is missing; without it the application is not registered")
			report.Sort()
		}
		for _, problem := range report.Errors {
			problems = append(problems, problem)
		}
		for _, warning := range report.Warnings {
			warnings = append(warnings, warning.Error())
		}
	}
	r.Manual = manual(reports)
	return warnings, errors.Join(problems...)
}

// manual returns the names of the applications that only users deploy. Where any application has a chain, those that
// accept chains are not among them.
func manual(reports []*config.Report) (names []string) {
	chained := slices.ContainsFunc(reports, func(r *config.Report) bool {
		return r.Application != nil && r.Application.PostSync != nil && r.Application.PostSync.Chain != nil
	})
	for _, report := range reports {
		if report.Application == nil {
			continue
		}
		rule := report.Application.Trigger
		if rule.OnCommit.Disabled && rule.OnOutOfSync.Disabled && (rule.OnChain.Disabled || !chained) {
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

// checkEach checks each file by itself. Problems are those of files that cannot be read as a configuration at all.
func (r *Repository) checkEach(checker *options.Checker) (problems []error, reports []*config.Report, err error) {
	checker.Folder = func(name string) (string, bool) { return path.Dir(name), true } // names are those in Git
	repo, err := gitobjects.Open(r.Root)
	if err != nil {
		return nil, nil, fmt.Errorf("open the Git repository %s: %w", r.Root, err)
	}
	for _, name := range r.Applications {
		entry := r.files[name]
		if entry.Mode == filemode.Symlink {
			problems = append(problems,
				fmt.Errorf("%s is a symbolic link: piped reads configuration from regular files only; commit a copy "+
					"of the file", name))
			continue
		}
		content, size, err := readConfiguration(repo, entry.Hash)
		if err != nil {
			return nil, nil, damaged(r.Root, fmt.Errorf("read %s at commit %s: %w", name, line.Commit(r.Head), err))
		}
		if size > config.MaxSize {
			problems = append(problems,
				fmt.Errorf("%s:1:1: the file is larger than %d KiB; a configuration is never that large", name,
					config.MaxSize>>10))
			continue
		}
		report := config.Check(content, name)
		checker.CheckOptions(report)
		reports = append(reports, report)
	}
	return problems, reports, nil
}

// Configurations returns the application configurations at Head as agents read them, by their files. A file that agents
// refuse has errors.
func (r *Repository) Configurations() (map[string]*config.Report, error) {
	repo, err := gitobjects.Open(r.Root)
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
