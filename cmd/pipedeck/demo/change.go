// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/cluster/kubeapi"
	"github.com/pipedeck/pipedeck/devenv/story"
)

// change makes the change of a step, if it has one.
func (p *Play) change(ctx context.Context, step story.Step) error {
	ctx, cancel := context.WithTimeout(ctx, session.CallTimeout)
	defer cancel()
	switch {
	case step.Edit != nil:
		return p.edit(ctx, *step.Edit)
	case step.Approve != nil:
		return p.approve(ctx, *step.Approve)
	case step.Sync != "":
		return p.sync(ctx, step.Sync)
	case step.Rollback != "":
		return p.rollBack(ctx, step.Rollback)
	case step.KillPlugin != "":
		return p.kill(ctx, step.KillPlugin)
	case step.EditPlugin != nil:
		e := *step.EditPlugin
		return replace(p.Plugin.Dir, cmp.Or(e.File, p.Plugin.Work), e.Replace, e.With)
	case step.Patch != nil:
		return p.patch(ctx, *step.Patch)
	}
	return nil
}

// maxEdited bounds a file that a story edits, in bytes.
const maxEdited = 1 << 20

// replace replaces a text at its first place in a file of a directory.
func replace(dir, file, old, with string) error {
	root, err := os.OpenRoot(dir) // no link leads out of it
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Lstat(file)
	if cause := (*os.PathError)(nil); errors.As(err, &cause) {
		return fmt.Errorf("edit %s: %w", file, cause.Err) // without the name of the system call and the file again
	}
	if err != nil {
		return fmt.Errorf("edit %s: %w", file, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxEdited {
		return fmt.Errorf("edit %s: it is not a regular file of at most %d KiB", file, maxEdited>>10)
	}
	content, err := root.ReadFile(file)
	if err != nil {
		return fmt.Errorf("edit %s: %w", file, err)
	}
	if !strings.Contains(string(content), old) {
		return fmt.Errorf("edit %s: it does not hold %q", file, old)
	}
	edited := strings.Replace(string(content), old, with, 1)
	if err := root.WriteFile(file, []byte(edited), info.Mode().Perm()); err != nil {
		return fmt.Errorf("edit %s: %w", file, err)
	}
	return nil
}

// edit replaces a text in a file, and commits it unless the story does so later.
func (p *Play) edit(ctx context.Context, e story.Edit) error {
	if err := replace(p.Repository, e.File, e.Replace, e.With); err != nil {
		return err
	}
	p.saved = append(p.saved, e.File)
	if e.Message == "" {
		return nil
	}
	_, err := p.git(ctx, append([]string{"commit", "--quiet", "-m", e.Message, "--"}, p.saved...)...)
	if err != nil {
		return err
	}
	p.saved, p.before = nil, nil
	p.commit, err = p.git(ctx, "rev-parse", "HEAD")
	return err
}

// git runs a git command in the sample repository. It neither asks nor needs anything of the user's configuration.
func (p *Play) git(ctx context.Context, args ...string) (string, error) {
	args = append([]string{"-C", p.Repository, "-c", "commit.gpgSign=false", "-c", "core.hooksPath=/dev/null",
		"-c", "user.name=pipedeck demo", "-c", "user.email=demo@pipedeck.dev"}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "GIT_") })
	cmd.Env = append(cmd.Env, "GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true")
	out, err := cmd.Output()
	if ended := (*exec.ExitError)(nil); errors.As(err, &ended) && len(ended.Stderr) > 0 {
		return "", fmt.Errorf("git: %s", strings.TrimSpace(string(ended.Stderr)))
	}
	if err != nil {
		return "", fmt.Errorf("git: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

func (p *Play) approve(ctx context.Context, a story.Approval) error {
	s, err := session.ReadState(ctx, p.Deck)
	if err != nil {
		return err
	}
	deployment := p.newest(s.Deck, a.Application)
	if deployment == nil {
		return fmt.Errorf("approve %s %s: the deployment has not begun; await its stage first", a.Application, a.Stage)
	}
	stage := stageOf(deployment, a.Stage)
	if stage == nil {
		return fmt.Errorf("approve %s %s: the newest deployment: %s", a.Application, a.Stage,
			noStage(deployment, a.Stage))
	}
	if stage.GetStatus() == deckv1.StageStatus_STAGE_STATUS_SUCCESS {
		return nil // the viewer was faster
	}
	_, err = p.Deck.ApproveStage(ctx, &deckv1.ApproveStageRequest{
		DeploymentId: deployment.GetId(), StageId: stage.GetId(), Commander: p.Commander,
	})
	return refused(err, "approve %s %s", a.Application, a.Stage)
}

func (p *Play) sync(ctx context.Context, name string) error {
	s, err := session.ReadState(ctx, p.Deck)
	if err != nil {
		return err
	}
	app := application(s.Deck, name)
	if app == nil {
		return fmt.Errorf("sync %s: there is no such application", name)
	}
	p.forget(s)
	_, err = p.Deck.SyncApplication(ctx, &deckv1.SyncApplicationRequest{ApplicationId: app.GetId()})
	return refused(err, "sync %s", name)
}

func (p *Play) rollBack(ctx context.Context, name string) error {
	s, err := session.ReadState(ctx, p.Deck)
	if err != nil {
		return err
	}
	app := application(s.Deck, name)
	if app == nil {
		return fmt.Errorf("roll back %s: there is no such application", name)
	}
	newest := s.Newest(app.GetId())
	for _, d := range s.Deployments(app.GetId()) {
		if d == newest || d.GetStatus() != deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS ||
			d.GetCommit().GetHash() == newest.GetCommit().GetHash() {
			continue
		}
		p.forget(s)
		_, err := p.Deck.RollBackApplication(ctx, &deckv1.RollBackApplicationRequest{
			DeploymentId: d.GetId(), Commander: p.Commander,
		})
		return refused(err, "roll back %s", name)
	}
	return fmt.Errorf("roll back %s: it has no earlier deployment that has succeeded", name)
}

// forget makes conditions be about deployments that begin from now on.
func (p *Play) forget(s *session.State) {
	p.commit, p.before = "", map[string]string{}
	for _, app := range s.Applications() {
		p.before[app.GetName()] = s.Newest(app.GetId()).GetId()
	}
}

// kill kills the process of a plugin, as a crash of it would end.
func (p *Play) kill(ctx context.Context, name string) error {
	s, err := session.ReadState(ctx, p.Deck)
	if err != nil {
		return err
	}
	var names []string
	for _, plugin := range s.Plugins() {
		names = append(names, plugin.GetName())
		// 0 and below stand for groups of processes.
		if plugin.GetName() != name || plugin.GetPid() <= 1 {
			continue
		}
		if err := syscall.Kill(int(plugin.GetPid()), syscall.SIGKILL); err != nil {
			return fmt.Errorf("kill the plugin %s: %w", name, err)
		}
		return nil
	}
	switch {
	case len(names) == 0:
		return fmt.Errorf("kill the plugin %s: no plugin has started; await it first", name)
	case !slices.Contains(names, name):
		return fmt.Errorf("kill the plugin %s: there is no such plugin; there are: %s", name, strings.Join(names, ", "))
	}
	return fmt.Errorf("kill the plugin %s: no process of it runs", name)
}

func (p *Play) patch(ctx context.Context, change story.Patch) error {
	client, err := kubeapi.Connect(p.Kubeconfig)
	if err != nil {
		return fmt.Errorf("patch %s: %w", change.Path, err)
	}
	defer client.Close()
	// The drift of the object names who has changed it.
	if err := client.Patch(ctx, change.Path+"?fieldManager=a-change-by-hand", change.Merge); err != nil {
		return fmt.Errorf("patch %s: %w", change.Path, err)
	}
	return nil
}

// refused adds to the answer of the environment what was asked for.
func refused(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, session.Unreachable(err))...)
}
