// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/secrets"
	"github.com/pipedeck/pipedeck/piped/source/render"
)

// What templates call the values (PipeCD v1).
const (
	secretsGroup     = "encryptedSecrets"
	attachmentsGroup = "attachment"
)

// Keys of the configuration, for mistakes.
const (
	decryptionTargets = "spec.encryption.decryptionTargets"
	attachmentSources = "spec.attachment.sources"
	attachmentTargets = "spec.attachment.targets"
)

// fill writes secrets and then attachments into the files that use them. PipeCD v1: attachments are read
// after the secrets were written, so an attached file may hold one.
func (s *Source) fill(ctx context.Context, directory string) error {
	encryption, attachment := s.Config.Encryption, s.Config.Attachment
	if encryption == nil && attachment == nil {
		return nil
	}
	s.tree.private = true
	if err := os.Chmod(s.tree.dir, 0o700); err != nil {
		return fmt.Errorf("prepare the directory for secrets: %w", err)
	}
	dir, err := openInside(s.RepositoryDirectory, directory)
	if err != nil {
		return fmt.Errorf("open the directory %s of the application at commit %s: %w", directory, s.Commit, err)
	}
	defer dir.Close()
	f := &filler{ctx: ctx, source: s, directory: directory, files: folder{dir}}
	if encryption != nil {
		if err := f.fillSecrets(encryption); err != nil {
			return f.withLater(err, nil, attachment)
		}
	}
	if attachment == nil {
		return nil
	}
	values, err := f.attachments(attachment.Sources)
	if err != nil {
		return f.withLater(err, nil, &config.Attachment{Targets: attachment.Targets})
	}
	return f.render(attachmentTargets, attachment.Targets, attachmentsGroup, values)
}

// fillSecrets writes the secrets into the files that use them.
func (f *filler) fillSecrets(encryption *config.Encryption) error {
	values, err := f.decrypt(encryption.EncryptedSecrets)
	if err != nil {
		return f.withLater(err, encryption, nil)
	}
	return f.render(decryptionTargets, encryption.DecryptionTargets, secretsGroup, values)
}

// withLater adds to mistakes the files of later steps that cannot be read, so that the author learns of all at once.
// Other errors stay as they are.
func (f *filler) withLater(err error, encryption *config.Encryption, attachment *config.Attachment) error {
	mistakes, is := errors.AsType[config.Errors](err)
	if !is {
		return err
	}
	check := func(field, name string) {
		if _, _, err := f.files.read(name); err != nil {
			mistakes = append(mistakes, f.fileMistake(field, name, err))
		}
	}
	if encryption != nil {
		for i, target := range encryption.DecryptionTargets {
			check(fmt.Sprintf("%s[%d]", decryptionTargets, i), target)
		}
	}
	if attachment != nil {
		for _, name := range slices.Sorted(maps.Keys(attachment.Sources)) {
			check(attachmentSources+"."+name, attachment.Sources[name])
		}
		for i, target := range attachment.Targets {
			check(fmt.Sprintf("%s[%d]", attachmentTargets, i), target)
		}
	}
	return mistakes
}

// openInside opens a directory below another one; links that lead out are refused by os.Root.
func openInside(dir, name string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenRoot(filepath.FromSlash(name))
}

// filler fills the files of one application.
type filler struct {
	ctx       context.Context
	source    *Source
	directory string // of the application in the repository, with slashes
	files     folder
}

// decrypt opens all secrets, and has them masked from here on.
func (f *filler) decrypt(ciphertexts map[string]string) (map[string]string, error) {
	options := f.source.store.options
	if len(ciphertexts) > 0 && options.Decrypter == nil {
		return nil, errors.New("the application has encrypted secrets, but this piped has no key for them: " +
			"set spec.secretManagement with type KEY_PAIR or AGE in the piped configuration and restart piped")
	}
	values := map[string]string{}
	var mistakes config.Errors
	for _, name := range slices.Sorted(maps.Keys(ciphertexts)) {
		value, err := options.Decrypter.Decrypt(ciphertexts[name])
		var broken *secrets.CipherError
		switch {
		case errors.As(err, &broken):
			mistake := f.mistake("spec.encryption.encryptedSecrets."+name, "cannot be decrypted: %v", err)
			mistake.ForeignKey = broken.Foreign
			mistakes = append(mistakes, mistake)
		case err != nil:
			return nil, fmt.Errorf("decrypt the secret %s: %w", name, err)
		}
		if !secrets.Maskable(value) {
			f.source.store.logger.Warn("a secret is too short to be masked in logs and reports; take a longer one",
				"application", f.directory, "secret", name)
		}
		values[name] = value
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	release, err := options.Masker.Hold(slices.Collect(maps.Values(values))...)
	if err != nil {
		return nil, fmt.Errorf("mask the secrets of the application: %w", err)
	}
	f.source.Closed = release
	return values, nil
}

// attachments reads all attached files.
func (f *filler) attachments(sources map[string]string) (map[string]string, error) {
	values := map[string]string{}
	var mistakes config.Errors
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		content, _, err := f.files.read(sources[name])
		if err != nil {
			mistakes = append(mistakes, f.fileMistake(attachmentSources+"."+name, sources[name], err))
		}
		values[name] = content
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return values, nil
}

// render fills the targets, which the key in the configuration lists, with one group of values.
func (f *filler) render(key string, targets []string, group string, values map[string]string) error {
	var mistakes config.Errors
	for i, target := range targets {
		field := fmt.Sprintf("%s[%d]", key, i)
		template, mode, err := f.files.read(target)
		if err != nil {
			mistakes = append(mistakes, f.fileMistake(field, target, err))
			continue
		}
		text, err := render.Render(f.ctx, template, map[string]map[string]string{group: values})
		if f.ctx.Err() != nil {
			return context.Cause(f.ctx)
		}
		var wrong *render.Error
		if errors.As(err, &wrong) {
			mistakes = append(mistakes, &config.Error{
				File: path.Join(f.directory, target), Line: wrong.Line, Column: wrong.Column,
				Message: f.source.store.options.Masker.Mask("cannot be filled as " + field + " asks: " + wrong.Message),
			})
			continue
		}
		if err == nil {
			err = f.files.write(target, text, mode)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", path.Join(f.directory, target), err)
		}
	}
	if len(mistakes) > 0 {
		return mistakes
	}
	return nil
}

func (f *filler) mistake(field, format string, arguments ...any) *config.Error {
	return &config.Error{
		File: path.Join(f.directory, f.source.ConfigFilename), Field: field, Message: fmt.Sprintf(format, arguments...),
	}
}

func (f *filler) fileMistake(field, name string, err error) *config.Error {
	if errors.Is(err, fs.ErrNotExist) {
		return f.mistake(field, "the file %s is missing at commit %s", name, f.source.Commit)
	}
	return f.mistake(field, "the file %s cannot be used: %v", name, err)
}
