// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pipedeck/pipedeck/system/owned"
)

// nameRule keeps names usable as a directory, a kubeconfig context and a container name.
var nameRule = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$`)

// Workspace is the directory of one environment.
type Workspace struct {
	// Name is the name of the environment.
	Name string
	// Dir is an absolute path.
	Dir string
	// Warn gets a sentence when something in the directory was open to other users and is closed to them now. May be
	// nil.
	Warn func(string)
	// Explicit is set when commands for the user have to name the environment and its place, because the user has other
	// defaults for these flags.
	Explicit bool
}

// rootMark marks a directory of environments that pipedeck has created.
const rootMark = "pipedeck environments"

// mark marks the directory of this environment. It holds the name, so that a copy of the directory is no environment.
func (w *Workspace) mark() string { return "pipedeck environment " + w.Name }

// At returns the workspace of an environment below root without touching the disk. The name must
// consist of at most 40 lower-case letters, digits and dashes.
func At(root, name string) (*Workspace, error) {
	if !nameRule.MatchString(name) {
		return nil, fmt.Errorf("environment name %q: use at most 40 lower-case letters, digits and dashes", name)
	}
	dir, err := filepath.Abs(filepath.Join(root, name))
	if err != nil {
		return nil, fmt.Errorf("locate environment %s: %w", name, err)
	}
	return &Workspace{Name: name, Dir: dir}, nil
}

// Create creates the directory and marks it as ours, or checks it when it is there already. A directory that is neither
// empty nor ours is an *owned.Error and stays as it is.
func (w *Workspace) Create() error {
	if err := w.create(); err != nil {
		return &CreateError{err}
	}
	return nil
}

// CreateError is why the directory of an environment cannot be created or used.
type CreateError struct{ cause error }

func (e *CreateError) Error() string { return "create the environment's directory: " + e.cause.Error() }

// Unwrap returns the cause.
func (e *CreateError) Unwrap() error { return e.cause }

func (w *Workspace) create() error {
	if err := w.createRoot(); err != nil {
		return err
	}
	root, err := owned.Claim(w.Dir, w.mark(), w.Warn)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := w.check(root); err != nil {
		return err
	}
	for _, dir := range []string{w.SecretsDir(), w.PluginLogsDir(), w.PipedDir(), w.Path("cluster")} {
		relative, err := filepath.Rel(w.Dir, dir)
		if err == nil {
			err = root.MkdirAll(relative, 0o700)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// createRoot creates the directory of all environments, and marks it when it was not there.
func (w *Workspace) createRoot() error {
	dir := filepath.Dir(w.Dir)
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	switch err := os.Mkdir(dir, 0o700); {
	case errors.Is(err, fs.ErrExist):
		return checkRoot(dir)
	case err != nil:
		return err
	}
	root, err := owned.Claim(dir, rootMark, nil)
	if err != nil {
		return err
	}
	return root.Close()
}

// Check returns nil for an environment that is there, fs.ErrNotExist when there is none, and an *owned.Error when the
// directory is not ours or may have been changed by others.
func (w *Workspace) Check() error {
	root, err := w.open()
	if err != nil {
		return err
	}
	return root.Close()
}

// Exists reports whether the environment has left anything on disk.
func (w *Workspace) Exists() (bool, error) {
	err := w.Check()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// open opens the directory of an environment that is there, after all checks.
func (w *Workspace) open() (*os.Root, error) {
	if err := checkRoot(filepath.Dir(w.Dir)); err != nil {
		return nil, err
	}
	root, err := owned.OpenMarked(w.Dir, w.mark(), w.Warn)
	if err != nil {
		return nil, err
	}
	if err := w.check(root); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// check refuses an environment in which something of ours is a link, or belongs to another user.
func (w *Workspace) check(root *os.Root) error { return checkItems(root, w.Dir, ".", layout) }

func checkItems(root *os.Root, base, dir string, items []item) error {
	entries, err := fs.ReadDir(root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it is being removed
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		for _, i := range items {
			if !matches(i.pattern, entry.Name()) {
				continue
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				break // it is being removed
			}
			if err == nil {
				err = i.check(filepath.Join(base, name), info)
			}
			if err == nil && i.kind == folderItem {
				err = checkItems(root, base, name, i.holds)
			}
			if err != nil {
				return err
			}
			break
		}
	}
	return nil
}

// check refuses what has taken the place of the item.
func (i item) check(path string, info fs.FileInfo) error {
	if i.degrades && !info.Mode().IsRegular() {
		return owned.CheckOwner(path, info)
	}
	// A directory in the place of a file is reported by the part that opens the file.
	return owned.Check(path, info, i.kind != fileItem || info.IsDir())
}

// checkRoot refuses a directory of environments in which another user could exchange them. Such a directory may
// belong to the system, as /tmp does, and may be a link.
func checkRoot(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	const hint = "choose another directory with --state-dir"
	switch owner, ok := owned.Owner(info); {
	case !info.IsDir():
		return &owned.Error{Path: dir, Problem: "is not a directory", Hint: hint}
	case ok && owner != os.Geteuid() && owner != 0:
		return &owned.Error{Path: dir, Problem: fmt.Sprintf("belongs to another user (id %d)", owner), Hint: hint}
	case info.Mode()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0:
		return &owned.Error{
			Path: dir, Problem: fmt.Sprintf("can be changed by other users (mode %04o)", info.Mode().Perm()),
			Hint: "run: chmod go-w " + dir + "; or " + hint,
		}
	}
	return nil
}

// Path joins elements to the directory.
func (w *Workspace) Path(elements ...string) string {
	return filepath.Join(append([]string{w.Dir}, elements...)...)
}

// SecretsDir holds the generated keys.
func (w *Workspace) SecretsDir() string { return w.Path("secrets") }

// LogsDir holds the output of every process of the environment.
func (w *Workspace) LogsDir() string { return w.Path("logs") }

// PluginLogsDir holds a file for each plugin, named <plugin>.log, and its rotated predecessors.
func (w *Workspace) PluginLogsDir() string { return filepath.Join(w.LogsDir(), "plugins") }

// PluginProgram is the program of a plugin that the environment builds. Its ending keeps names such as
// ".." inside the folder.
func (w *Workspace) PluginProgram(name string) string {
	return w.Path("plugins", url.PathEscape(name)+".bin")
}

// PluginSources is the directory of a plugin that was created for the environment of w alone.
func PluginSources(w *Workspace, name string) string { return w.Path("sources", name) }

// PipedDir holds piped's mirrors, sources, plugin binaries and tools.
func (w *Workspace) PipedDir() string { return w.Path("piped") }

// PipedConfig is the piped configuration made for this environment.
func (w *Workspace) PipedConfig() string { return w.Path("piped.yaml") }

// ReattachFile names the processes that authors have started, for piped to use while the environment of w runs. Other
// files next to it are for the authors.
func ReattachFile(w *Workspace) string { return w.Path("reattach", "targets.json") }

// History holds what the control plane knows of applications and deployments.
func (w *Workspace) History() string { return w.Path("history") }

// ClusterDir holds what is stored about the named cluster, or all of it if it lives on this machine.
func (w *Workspace) ClusterDir(name string) string { return w.Path("cluster", name) }

// ClusterNames returns the names of the clusters that something is stored about.
func (w *Workspace) ClusterNames() ([]string, error) {
	entries, err := os.ReadDir(w.Path("cluster"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("list the environment's clusters: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if entry.IsDir() && CheckClusterName(entry.Name()) == nil {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// ClusterLog is the output of the named cluster's process.
func (w *Workspace) ClusterLog(name string) string {
	return filepath.Join(w.LogsDir(), strings.TrimSuffix("cluster-"+name, "-"+TargetName)+".log")
}

// Kubeconfig reaches the named cluster.
func (w *Workspace) Kubeconfig(name string) string {
	return w.Path(strings.TrimSuffix("kubeconfig-"+name, "-"+TargetName))
}

// CheckClusterName reports whether a cluster, and so a deploy target, can have that name.
func CheckClusterName(name string) error {
	if len(name) > 20 || !nameRule.MatchString(name) {
		return fmt.Errorf("cluster name %q: use at most 20 lower-case letters, digits and dashes", name)
	}
	return nil
}

// CreateHead creates an empty directory for a checkout of a commit. RemoveHead removes it.
func (w *Workspace) CreateHead(commit string) (string, error) {
	dir := w.Path("head", headPrefix+commit)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("create a directory for commit %s: %w", commit, err)
	}
	return dir, nil
}

// Snapshots is the repository with snapshots of a working tree.
func (w *Workspace) Snapshots() string { return w.Path("live.git") }

// SampleRepository is where the sample repository is made.
func (w *Workspace) SampleRepository() string { return w.Path("repository") }

// List returns the environments below root that left something on disk, by name, and the paths of the other directories
// that --name could name.
func List(root string) (found []*Workspace, others []string, err error) {
	entries, err := os.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("list environments: %w", err)
	}
	for _, entry := range entries {
		w, err := At(root, entry.Name())
		if err != nil || !entry.IsDir() {
			continue
		}
		if exists, err := w.Exists(); exists {
			found = append(found, w)
		} else if err != nil {
			others = append(others, w.Dir)
		}
	}
	return found, others, nil
}
