// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/e2e/drive"
)

const (
	// stages of the pipeline that is measured.
	stages = 10

	quickApp = `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: quick
  plugins:
    kubernetes: {}
`
	manifest = `apiVersion: v1
kind: ConfigMap
metadata:
  name: quick
data:
  round: "%d"
`
	scriptApp = `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: scripts
  planner:
    alwaysUsePipeline: true
    autoRollback: false
  pipeline:
    stages:
`
	scriptStage = `      - name: SCRIPT_RUN
        with:
          run: "true"
`
)

// benchCommits measures from the end of `git commit` to the first running stage, and what a stage
// of a pipeline costs.
func benchCommits(ctx context.Context, bin, dir string, n int) error {
	repo := filepath.Join(dir, "repository")
	if err := makeRepository(repo); err != nil {
		return err
	}
	s, err := start(ctx, bin, filepath.Join(dir, "commits"), repo, "--cluster", "embedded", "--keep=false")
	if err != nil {
		return err
	}
	err = measureCommits(s, repo, n)
	return errors.Join(err, s.stop())
}

func measureCommits(s *session, repo string, n int) error {
	pending := map[string]bool{"quick": true, "scripts": true}
	for len(pending) > 0 {
		e, err := s.await("the first deployments", func(e event) bool {
			return e.Text("type") == "deployment" &&
				e.Text("status") == "SUCCESS"
		})
		if err != nil {
			return err
		}
		delete(pending, e.Text("app"))
	}
	var first, withGit []time.Duration
	for i := range n {
		began, committed, err := commit(repo, "quick/manifest.yaml", fmt.Sprintf(manifest, i+1))
		if err != nil {
			return err
		}
		e, err := s.await("the first stage runs", func(e event) bool {
			return e.Text("type") == "stage" &&
				e.Text("status") == "RUNNING"
		})
		if err != nil {
			return err
		}
		first, withGit = append(first, e.At.Sub(committed)), append(withGit, e.At.Sub(began))
		if _, err := s.await("the deployment ends", deployment("quick", "SUCCESS")); err != nil {
			return err
		}
	}
	figures("commit -> first stage RUNNING", first, firstStageLimits...)
	figures("the same from the start of git commit", withGit)

	var perStage []time.Duration
	for i := range max(1, n/4) {
		if _, _, err := commit(repo, "scripts/note", fmt.Sprint(i)); err != nil {
			return err
		}
		begin, err := s.await("the pipeline runs", deployment("scripts", "RUNNING"))
		if err != nil {
			return err
		}
		end, err := s.await("the pipeline ends", deployment("scripts", "SUCCESS"))
		if err != nil {
			return err
		}
		perStage = append(perStage, end.At.Sub(begin.At)/stages)
	}
	figures("a SCRIPT_RUN `true` stage, of ten in a row", perStage)
	return nil
}

func makeRepository(dir string) error {
	files := map[string]string{
		"quick/app.pipecd.yaml":   quickApp,
		"quick/manifest.yaml":     fmt.Sprintf(manifest, 0),
		"scripts/app.pipecd.yaml": scriptApp + strings.Repeat(scriptStage, stages),
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return initRepository(dir)
}

// initRepository makes a directory a repository with one commit of all its files.
func initRepository(dir string) error {
	if err := git(dir, "init", "-q", "-b", "main"); err != nil {
		return err
	}
	if err := git(dir, "add", "-A"); err != nil {
		return err
	}
	return git(dir, "commit", "-qm", "start")
}

// commit changes one file and returns the moments at which git commit was started and had ended. The
// branch moves a little before git ends.
func commit(repo, file, content string) (began, committed time.Time, err error) {
	if err := os.WriteFile(filepath.Join(repo, file), []byte(content), 0o644); err != nil {
		return began, committed, err
	}
	if err := git(repo, "add", "-A"); err != nil {
		return began, committed, err
	}
	began = time.Now()
	err = git(repo, "commit", "-qm", "change "+file)
	return began, time.Now(), err
}

func git(dir string, args ...string) error {
	_, err := drive.Git(context.Background(), dir, args...)
	return err
}
