// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// diskMiB is the size of a small disk. An environment without a cluster needs a part of it.
const diskMiB = 512

// tryFullDisk fills the disk of an environment while commits go on, and frees it again.
func tryFullDisk(ctx context.Context, c *chaos) (err error) {
	if os.Geteuid() != 0 {
		fmt.Println("disk: skipped: only root can mount a small disk")
		return nil
	}
	home, err := c.home("disk")
	if err != nil {
		return err
	}
	if err := syscall.Mount("tmpfs", home, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0700", diskMiB)); err != nil {
		return fmt.Errorf("mount a small disk: %w", err)
	}
	defer func() { err = errors.Join(err, unmount(home)) }()
	// The ledger and the repository stay on the large disk: they are the witnesses.
	outside, err := c.home("disk-witness")
	if err != nil {
		return err
	}
	e, stop, err := c.startAt(ctx, filepath.Join(home, "state"), outside, c.bin, []string{"--cluster", "none"})
	if err != nil {
		return err
	}
	defer stop()
	m := &matrix{environment: e, random: c.random, oracle: newOracle(e)}
	for i := range 3 {
		where := fmt.Sprintf("full disk %d", i+1)
		if err := m.fullDisk(ctx, home, where); err != nil {
			e.findings.add("%s: %v\n%s", where, err, e.describe(context.WithoutCancel(ctx)))
		}
	}
	return m.end(ctx)
}

// fullDisk fills the disk, commits, frees the disk, and kills the host once all is well.
func (m *matrix) fullDisk(ctx context.Context, disk, where string) error {
	filler := filepath.Join(disk, "filler")
	if err := fill(filler); err != nil {
		return err
	}
	var commits []string
	for range 3 {
		commit, err := m.repository.commit(ctx, steadyApps[0])
		if err != nil {
			return err
		}
		commits = append(commits, commit)
	}
	degraded := m.statusIs(ctx, exitDegraded, degradedWithin)
	if err := errors.Join(os.Remove(filler), degraded); err != nil {
		return err
	}
	if err := m.healthy(ctx); err != nil {
		return err
	}
	// Commits while nothing could be written may have become one deployment, of the newest.
	last := cell{moment: moment{app: steadyApps[0], status: succeeded}}
	if err := m.endsAs(ctx, last, commits[len(commits)-1]); err != nil {
		return err
	}
	if err := m.settled(ctx); err != nil {
		return err
	}
	if err := m.oracle.check(ctx, where); err != nil {
		return err
	}
	if err := m.strike(ctx, victims()[0]); err != nil {
		return err
	}
	if err := m.settled(ctx); err != nil {
		return err
	}
	return errors.Join(m.healthy(ctx), m.oracle.check(ctx, where+", after a kill of the host"))
}

// fill writes until there is no room.
func fill(path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for _, block := range []int{1 << 20, 4 << 10, 1} {
		for err == nil {
			_, err = file.Write(make([]byte, block))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			return errors.Join(err, file.Close())
		}
		err = nil
	}
	return file.Close()
}

// mkfs creates the file system of a disk.
const mkfs = "mkfs.ext4"

// canCutPower reports whether a separate disk can be created and mounted.
func canCutPower() bool {
	_, err := exec.LookPath(mkfs)
	return err == nil && os.Geteuid() == 0
}

// tryPowerCut keeps an environment on a separate disk, takes what the disk holds at a random moment, as after
// a power cut, and starts from that: what was acknowledged before must be there.
func tryPowerCut(ctx context.Context, c *chaos) (err error) {
	if !canCutPower() {
		fmt.Println("power: skipped: needs root and mkfs.ext4")
		return nil
	}
	home, err := c.home("power")
	if err != nil {
		return err
	}
	disk, image := filepath.Join(home, "disk"), filepath.Join(home, "image")
	if err := errors.Join(os.Mkdir(disk, 0o700), os.WriteFile(image, nil, 0o600),
		os.Truncate(image, diskMiB<<20)); err != nil {
		return err
	}
	if err := command(ctx, mkfs, "-q", image); err != nil {
		return err
	}
	if err := mountImage(ctx, image, disk); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unmount(disk)) }()
	e, stop, err := c.startAt(ctx, filepath.Join(disk, "state"), home, c.bin, []string{"--cluster", "none"})
	if err != nil {
		return err
	}
	defer stop()
	m := &matrix{environment: e, random: c.random, oracle: newOracle(e)}
	for i := range c.cuts {
		where := fmt.Sprintf("power cut %d", i+1)
		if err := m.powerCut(ctx, image, disk, where); err != nil {
			e.findings.add("%s: %v\n%s", where, err, e.describe(context.WithoutCancel(ctx)))
			return nil
		}
	}
	return m.end(ctx)
}

func (m *matrix) powerCut(ctx context.Context, image, disk, where string) error {
	commit, err := m.begin(ctx, moments()[3])
	if err != nil {
		return err
	}
	// What is seen before this answer was recorded before it.
	if err := m.approveCommit(ctx, commit); err != nil {
		return err
	}
	m.oracle.remember()
	stopped, err := m.freeze(ctx)
	if err == nil {
		err = copyFile(image, image+".cut")
	}
	for _, pid := range stopped { // none has any power left to end what it started
		_ = kill(pid)
	}
	if err != nil {
		return err
	}
	if err := m.killAll(ctx); err != nil {
		return err
	}
	if err := errors.Join(unmountSoon(ctx, disk), os.Rename(image+".cut", image)); err != nil {
		return err
	}
	if err := mountImage(ctx, image, disk); err != nil {
		return err
	}
	if err := m.open(); err != nil {
		return err
	}
	if err := m.endsAs(ctx, cell{moment: moments()[3]}, commit); err != nil {
		return err
	}
	if err := m.settled(ctx); err != nil {
		return err
	}
	return errors.Join(m.healthy(ctx), m.oracle.check(ctx, where))
}

// freeze stops all processes of the environment and returns their pids. The copy of a disk takes a while: with writes
// in between it would hold the names and sizes of files from one moment and their content from another, as no power
// cut leaves them.
func (e *environment) freeze(ctx context.Context) (pids []int, err error) {
	ctx, cancel := context.WithTimeout(ctx, endsWithin)
	defer cancel()
	for {
		running, err := e.processes(ctx, nil)
		if err != nil {
			return pids, err
		}
		pids = pids[:0]
		all := true
		for _, line := range running {
			fields := strings.Fields(line)
			pid := number(fields[0])
			pids = append(pids, pid)
			if fields[1][0] != 'T' {
				all = false
				_ = syscall.Kill(pid, syscall.SIGSTOP) // it may have ended
			}
		}
		if all {
			return pids, nil
		}
		if err := pause(ctx, 10*time.Millisecond); err != nil {
			return pids, fmt.Errorf("stop the processes of the environment: %w", err)
		}
	}
}

func mountImage(ctx context.Context, image, dir string) error {
	return command(ctx, "mount", "-o", "loop,commit=600", image, dir)
}

// unmountSoon unmounts a directory once the processes that end have closed their files.
func unmountSoon(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, endsWithin)
	defer cancel()
	for {
		err := syscall.Unmount(dir, 0)
		if !errors.Is(err, syscall.EBUSY) || pause(ctx, 100*time.Millisecond) != nil {
			if err != nil {
				err = fmt.Errorf("unmount %s: %w", dir, err)
			}
			return err
		}
	}
}

// unmount waits for no one: a process that still holds the disk would be a separate finding.
func unmount(dir string) error {
	if err := syscall.Unmount(dir, 0); err != nil {
		return fmt.Errorf("unmount %s: %w", dir, errors.Join(err, syscall.Unmount(dir, syscall.MNT_DETACH)))
	}
	return nil
}

func command(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %v: %w: %s", name, args, err, out)
	}
	return nil
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
