// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/plugin/common"
)

// maxCopied bounds the repository that each call gets a copy of, in bytes. Calls share the copy of a larger one.
const maxCopied = 16 << 20

// sourceFor returns the application for one call, in a directory of that call alone, as piped gives it.
func (s *suite) sourceFor() (*common.DeploymentSource, error) {
	source := proto.CloneOf(s.source)
	root := filepath.Dir(source.GetSharedConfigDirectory())
	within, err := filepath.Rel(root, source.GetApplicationDirectory())
	if err != nil || !filepath.IsLocal(within) || !small(root) {
		return source, nil //nolint:nilerr // the directory is used as it is
	}
	dir, err := os.MkdirTemp(s.scratch, "source-")
	if err != nil {
		return nil, fmt.Errorf("copy the application for a call: %w", err)
	}
	if err := os.CopyFS(dir, os.DirFS(root)); err != nil {
		return nil, fmt.Errorf("copy the application for a call: %w", err)
	}
	source.ApplicationDirectory = filepath.Join(dir, within)
	source.SharedConfigDirectory = filepath.Join(dir, filepath.Base(source.GetSharedConfigDirectory()))
	return source, nil
}

// small is whether a tree has few bytes.
func small(root string) bool {
	left := int64(maxCopied)
	err := filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if left -= info.Size(); left < 0 {
			return fs.SkipAll
		}
		return nil
	})
	return err == nil && left >= 0
}

// otherCommit is that of the changed copy of the application.
const otherCommit = "fedcba9876543210"

// integer is a number at the end of a line of YAML or JSON that is no comment.
var integer = regexp.MustCompile(`(?m)^(\s*"?replicas"?:\s*|[^#\n]*:\s*)(\d{1,4})(,?\s*)$`)

// changedSource returns a copy of the application in which a file is another one, and the name of the file. It is the
// file that the configuration names, where it names one.
func (s *suite) changedSource() (*common.DeploymentSource, string, error) {
	source, err := s.sourceFor()
	if err != nil {
		return nil, "", err
	}
	if source.GetApplicationDirectory() == s.source.GetApplicationDirectory() {
		return nil, "", skip("the repository is too large to be copied for a change")
	}
	source.CommitHash = otherCommit
	var found, text string
	for _, name := range textFiles(source) {
		data, err := os.ReadFile(filepath.Join(source.GetApplicationDirectory(), name))
		if err != nil {
			return nil, "", fmt.Errorf("change the application: %w", err)
		}
		other, ok := changedText(name, string(data))
		if ok && (found == "" || namesFile(source.GetApplicationConfig(), name)) {
			found, text = name, other
		}
	}
	if found == "" {
		return nil, "", skip("the application has no file that could be changed; give one with --source")
	}
	if err := os.WriteFile(filepath.Join(source.GetApplicationDirectory(), found), []byte(text), 0o600); err != nil {
		return nil, "", fmt.Errorf("change the application: %w", err)
	}
	return source, found, nil
}

// changedText returns another text for a file: one that is still a configuration, when it is one.
func changedText(name, text string) (string, bool) {
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".json":
		at := integer.FindStringSubmatchIndex(text)
		if at == nil {
			return "", false
		}
		number, _ := strconv.Atoi(text[at[4]:at[5]])
		return text[:at[4]] + strconv.Itoa(number+1) + text[at[5]:], true
	case ".txt", ".md", ".html", ".conf", ".sh", "":
		return text + "another line\n", true
	}
	return "", false
}

// textFiles are the names of the files of an application that are text, apart from its configuration.
func textFiles(source *common.DeploymentSource) []string {
	var names []string
	dir := os.DirFS(source.GetApplicationDirectory())
	_ = fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		if err == nil && entry.Type().IsRegular() && name != source.GetApplicationConfigFilename() &&
			!strings.HasPrefix(entry.Name(), ".") {
			names = append(names, name)
		}
		return nil
	})
	return names
}

// namesFile is whether the configuration of an application names one of its files.
func namesFile(config []byte, name string) bool { return strings.Contains(string(config), name) }

// withoutFiles is the first commit of a story without files, apart from the configuration.
func (s *story) withoutFiles() *common.DeploymentSource {
	source, err := s.probe.suite.sourceFor()
	if err != nil {
		return s.first
	}
	for _, name := range textFiles(source) {
		_ = os.Remove(filepath.Join(source.GetApplicationDirectory(), name))
	}
	return source
}

// fingerprint returns the hashes of the files of a repository by their names.
func fingerprint(source *common.DeploymentSource) (map[string][sha256.Size]byte, bool) {
	root := filepath.Dir(source.GetSharedConfigDirectory())
	if !small(root) {
		return nil, false
	}
	sums := map[string][sha256.Size]byte{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		sums[name] = sha256.Sum256(data)
		return err
	})
	return sums, err == nil
}
