// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/prompt"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/devenv/caches"
	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
	"github.com/pipedeck/pipedeck/tui/document"
)

// cleaning is what the flags of clean ask for.
type cleaning struct {
	all, dryRun, yes bool
	output           format.Output
	now              time.Time
}

func newCleanCommand(t *session.Target) *cobra.Command {
	c := &cleaning{now: time.Now()}
	cmd := &cobra.Command{
		Use: "clean", Short: "Show what caches take of the disk, and remove them", Args: cobra.NoArgs,
		Long: `Show the caches of pipedeck with their sizes, and remove those that are outdated, after a question:
programs of other versions of the embedded Kubernetes, and what was not used for 7 days. With --all it removes
every cache that nothing uses. The next start creates again what it needs, for which it may need a network.

What a running environment uses stays. The history, keys and sample repository of an environment are no
caches: pipedeck down removes them. Go's own caches are removed by: go clean -cache -modcache.

Exit code 0: done, or there was nothing to do; 1: something could not be removed.`,
		Example: "  pipedeck clean --dry-run\n  pipedeck clean --all --yes\n  pipedeck clean -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if c.dryRun && c.yes {
				return exit.Usage(errors.New("give --dry-run or --yes, not both"),
					"pipedeck clean --dry-run only shows")
			}
			places, err := findCaches(t)
			if err != nil {
				return err
			}
			return c.run(cmd, places)
		},
	}
	cmd.Flags().BoolVar(&c.all, "all", false, "remove every cache that nothing uses, not only outdated ones")
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "show what would be removed, and remove nothing")
	cmd.Flags().BoolVar(&c.yes, "yes", false, "remove without a question")
	format.AddListFlags(cmd, &c.output)
	return cmd
}

// findCaches returns the places on this machine.
func findCaches(t *session.Target) (*caches.Caches, error) {
	stateDir, err := t.Root()
	if err != nil {
		return nil, err
	}
	cache, err := userCache()
	if err != nil {
		return nil, err
	}
	places := &caches.Caches{
		CacheDir: filepath.Join(cache, "pipedeck"), PipedDir: filepath.Join(cache, "piped"), StateDir: stateDir,
		Programs: caches.RunningPrograms, Now: time.Now,
	}
	if program, err := embedded.NewProgram(); err == nil {
		if found, err := program.Look(); err == nil {
			places.Embedded = found.Path
		}
	}
	return places, nil
}

// userCache returns the directory of this user for caches of all programs.
func userCache() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		next := "set HOME to an absolute path"
		if runtime.GOOS != "darwin" {
			next = "set HOME, or XDG_CACHE_HOME, to an absolute path"
		}
		return "", exit.Usage(fmt.Errorf("find the directory for caches: %w", err), next)
	}
	return cache, nil
}

func (c *cleaning) run(cmd *cobra.Command, places *caches.Caches) error {
	all, listErr := places.List(cmd.Context())
	var chosen []*caches.Entry
	var size int64
	for _, e := range all {
		if e.UsedBy == "" && (c.all || e.Outdated) {
			chosen, size = append(chosen, e), size+e.Bytes
		}
	}
	if !c.output.Machine() && !c.output.Names() {
		if err := c.show(cmd.OutOrStdout(), all, size); err != nil {
			return err
		}
	}
	agreed, err := c.agreed(cmd, len(chosen), size)
	if err != nil {
		return err
	}
	var failures []error
	var freed int64
	if agreed {
		for _, e := range chosen {
			if err := places.Remove(e); err != nil {
				failures = append(failures, fmt.Errorf("%s in %s: %w", e.Kind, e.Path, err))
				continue
			}
			freed += e.Bytes
		}
	}
	if err := c.report(cmd.OutOrStdout(), all, freed, agreed); err != nil {
		return err
	}
	if err := errors.Join(append(failures, listErr)...); err != nil {
		return exit.With(exit.Failed, fmt.Errorf("not everything could be cleaned: %w", err),
			"end what uses it, then run: pipedeck clean --dry-run")
	}
	return nil
}

// agreed reports whether the user wants the removal. Without a terminal only --yes is an answer.
func (c *cleaning) agreed(cmd *cobra.Command, count int, size int64) (bool, error) {
	switch {
	case c.dryRun:
		return false, nil
	case c.yes:
		return true, nil
	case count == 0:
		return false, nil
	case c.output.Machine(), c.output.Names():
		return false, nil
	}
	yes, err := prompt.Confirm(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), "remove "+diskSize(size))
	switch {
	case errors.Is(err, prompt.ErrNoTerminal):
		_, err = fmt.Fprintln(cmd.OutOrStdout(), "nothing was removed; to remove it: pipedeck clean --yes"+c.allFlag())
		return false, err
	case errors.Is(err, context.Canceled):
		return false, exit.Silent(exit.Interrupted)
	}
	return yes, err
}

func (c *cleaning) allFlag() string {
	if c.all {
		return " --all"
	}
	return ""
}

// show prints the table of caches.
func (c *cleaning) show(out io.Writer, all []*caches.Entry, removable int64) error {
	if len(all) == 0 {
		_, err := fmt.Fprintln(out, "there are no caches")
		return err
	}
	var body [][]string
	var total int64
	for _, e := range all {
		state := "kept for the next start"
		switch {
		case e.UsedBy != "":
			state = "used by " + e.UsedBy
		case c.all || e.Outdated:
			state = "can be removed"
		}
		total += e.Bytes
		body = append(body, []string{e.Kind, diskSize(e.Bytes), age(c.now.Sub(e.UsedAt)), state, e.Path})
	}
	if err := c.output.Table(out, format.Table{Columns: []format.Column{
		{Head: "CACHE", Yield: 1, Least: 16}, {Head: "SIZE"}, {Head: "LAST USED", Drop: 2}, {Head: "STATE", Drop: 1},
		{Head: "DIRECTORY", Drop: 3},
	}, Rows: body}); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s in all, of which %s can be removed%s\n", diskSize(total), diskSize(removable),
		map[bool]string{false: "; with --all: everything that is not in use"}[c.all])
	return err
}

// report says what was done.
func (c *cleaning) report(out io.Writer, all []*caches.Entry, freed int64, agreed bool) error {
	switch {
	case c.output.Machine():
		return c.output.Document(out, cacheDocument(all, freed))
	case c.output.Names():
		var paths []string
		for _, e := range all {
			paths = append(paths, e.Path)
		}
		return c.output.PrintNames(out, paths)
	}
	if !agreed {
		return nil
	}
	_, err := fmt.Fprintf(out, "removed %s\n", diskSize(freed))
	return err
}

func cacheDocument(all []*caches.Entry, freed int64) document.Caches {
	found := document.Caches{Head: document.NewHead(), Caches: []document.Cache{}, Freed: freed}
	for _, e := range all {
		found.Caches = append(found.Caches, document.Cache{
			Kind: e.Kind, Path: e.Path, Bytes: e.Bytes, UsedAt: document.Moment(e.UsedAt), UsedBy: e.UsedBy,
			Outdated: e.Outdated, Removed: e.Removed,
		})
	}
	return found
}

// diskSize shows a number of bytes.
func diskSize(bytes int64) string {
	switch {
	case bytes < 1<<20:
		return fmt.Sprintf("%d KiB", bytes>>10)
	case bytes < 1<<30:
		return fmt.Sprintf("%d MiB", bytes>>20)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
}

// age shows how long ago something was.
func age(d time.Duration) string {
	switch {
	case d < time.Hour:
		return "within the hour"
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	}
	return fmt.Sprintf("%d days ago", d/(24*time.Hour))
}
