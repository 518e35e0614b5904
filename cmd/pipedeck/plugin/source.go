// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/gitroot"
)

// maxSource bounds the repository that is copied for a plugin, in bytes.
const maxSource = 1 << 30

// exampleOf is the application that the directory of a plugin brings, for stages that need one; empty for none.
func exampleOf(place string) string {
	dir := filepath.Join(place, "example")
	if info, err := os.Stat(filepath.Join(dir, applicationFile)); err == nil && info.Mode().IsRegular() {
		return dir
	}
	return ""
}

// applicationFile has the configuration of an application.
const applicationFile = "app.pipecd.yaml"

// copiedSource describes an application to a plugin as piped does: in a copy of its repository below scratch, where the
// plugin may write. It returns nil for an empty dir. Outside of a repository, the directory alone is copied.
func copiedSource(dir, scratch string) (*common.DeploymentSource, error) {
	if dir == "" {
		return nil, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, exit.Usage(err, "give the directory of an application")
	}
	data, err := os.ReadFile(filepath.Join(dir, applicationFile))
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("read the application configuration: %w", err),
			"give the directory of an application, with its "+applicationFile)
	}
	root := repositoryAround(dir)
	within, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, err
	}
	copied := filepath.Join(scratch, "repository")
	if err := copyTree(root, copied, maxSource); err != nil {
		return nil, exit.Usage(fmt.Errorf("copy %s for the plugin: %w", root, err),
			"give an application of a smaller repository that you may read, or a copy of its directory")
	}
	return &common.DeploymentSource{
		ApplicationDirectory: filepath.Join(copied, within), CommitHash: "0123456789abcdef", ApplicationConfig: data,
		ApplicationConfigFilename: applicationFile, SharedConfigDirectory: filepath.Join(copied, ".pipe"),
	}, nil
}

// applicationID is the id of the application in a directory; empty for an empty dir. It is one for each directory, so
// that a run does not take for its own what a run of another application has left at a deploy target. The next run of
// the same application finds what it has deployed.
func applicationID(dir string) string {
	if dir == "" {
		return ""
	}
	if absolute, err := filepath.Abs(dir); err == nil {
		dir = absolute
	}
	return fmt.Sprintf("application-%x", sha256.Sum256([]byte(dir)))[:len("application-")+12]
}

// repositoryAround returns the root of the Git repository that holds dir, or dir itself.
func repositoryAround(dir string) string {
	if root, ok := gitroot.Of(dir); ok {
		return root
	}
	return dir
}

// copyTree copies directories, files and symbolic links, but nothing of Git's, up to limit bytes.
func copyTree(from, to string, limit int64) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		within, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, within)
		switch {
		case entry.Name() == ".git":
			if entry.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case path == to: // the scratch directory is in the repository
			return filepath.SkipDir
		case entry.IsDir():
			return os.MkdirAll(target, 0o700)
		case entry.Type() == fs.ModeSymlink:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case !entry.Type().IsRegular():
			return nil // Git holds no such file
		}
		copied, err := copyFile(path, target, limit)
		limit -= copied
		return err
	})
}

// copyFile copies at most limit bytes; more is an error.
func copyFile(from, to string, limit int64) (copied int64, err error) {
	in, err := os.Open(from)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return 0, err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o200)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if copied, err = io.Copy(out, io.LimitReader(in, limit+1)); err == nil && copied > limit {
		err = fmt.Errorf("it is larger than %d MiB", maxSource>>20)
	}
	return copied, err
}
