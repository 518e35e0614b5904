// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/piped/config"
)

// maxTarget bounds what is read of a file to look for secrets, in bytes.
const maxTarget = 1 << 20

// checkFilledFiles refuses an application whose files for secrets and attachments are not there: its deployments would
// end in their planning. It warns of secrets that no file uses. A file outside of a repository, such as a draft, has no
// other files next to it.
func checkFilledFiles(report *config.Report) {
	if _, known := repositoryFolder(report.File()); !known {
		return
	}
	folder := filepath.Dir(report.File())
	is := func(field, name string) {
		if report.Failed(field) || name == "" {
			return
		}
		info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			report.Add(field, fmt.Sprintf("there is no file %q in the directory of the application", name))
		case err == nil && !info.Mode().IsRegular():
			report.Add(field, fmt.Sprintf("%q is not a file", name))
		}
	}
	if encryption := report.Application.Encryption; encryption != nil {
		before := len(report.Errors)
		for i, target := range encryption.DecryptionTargets {
			is(fmt.Sprintf("spec.encryption.decryptionTargets[%d]", i), target)
		}
		if len(report.Errors) == before && len(encryption.DecryptionTargets) > 0 {
			checkUnusedSecrets(report, folder, encryption)
		}
	}
	if attachment := report.Application.Attachment; attachment != nil {
		for _, name := range slices.Sorted(maps.Keys(attachment.Sources)) {
			is("spec.attachment.sources."+name, attachment.Sources[name])
		}
		for i, target := range attachment.Targets {
			is(fmt.Sprintf("spec.attachment.targets[%d]", i), target)
		}
	}
}

// checkUnusedSecrets warns of secrets that the targets do not name.
func checkUnusedSecrets(report *config.Report, folder string, encryption *config.Encryption) {
	var all strings.Builder
	for _, target := range encryption.DecryptionTargets {
		file, err := os.Open(filepath.Join(folder, filepath.FromSlash(target)))
		if err != nil {
			return
		}
		n, err := io.Copy(&all, io.LimitReader(file, maxTarget))
		file.Close()
		if err != nil || n == maxTarget {
			return // What is not read may use them.
		}
	}
	content := all.String()
	// A template may take all secrets, or compute a name.
	if bare := strings.Count(content, "encryptedSecrets") - strings.Count(content, ".encryptedSecrets."); bare > 0 {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(encryption.EncryptedSecrets)) {
		if !strings.Contains(content, ".encryptedSecrets."+name) {
			report.Warn("spec.encryption.encryptedSecrets."+name,
				"is used by none of decryptionTargets; a file uses it as {{ .encryptedSecrets."+name+" }}")
		}
	}
}
