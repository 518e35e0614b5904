// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/term"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/prompt"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/signature"
	"github.com/pipedeck/pipedeck/system/inputfile"
)

// passwordVariable holds the password of a key where no one can be asked.
const passwordVariable = "PIPEDECK_SIGN_PASSWORD"

// passwordSource gets passwords from the environment or a terminal.
type passwordSource struct {
	in     io.Reader
	prompt io.Writer
}

// ask returns the password; label says for what.
func (p passwordSource) ask(ctx context.Context, label string) (string, error) {
	if password, ok := os.LookupEnv(passwordVariable); ok {
		return password, nil
	}
	file, ok := p.in.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return "", exit.Usage(errors.New("the key needs a password, and there is no terminal to ask for it"),
			"set "+passwordVariable)
	}
	password, err := prompt.Secret(ctx, int(file.Fd()), p.prompt, label)
	if ctx.Err() != nil {
		return "", exit.Silent(exit.Interrupted)
	}
	return string(password), err
}

// askNew asks twice, where someone can be asked.
func (p passwordSource) askNew(ctx context.Context) (string, error) {
	password, err := p.ask(ctx, "Password for the new key (not shown)")
	if err != nil {
		return "", err
	}
	if again, err := p.ask(ctx, "The same again"); err != nil || again != password {
		return "", errors.Join(err, exit.Usage(errors.New("the two passwords are not the same"), "try it again"))
	}
	if password == "" {
		return "", exit.Usage(errors.New("the password is empty"), "give one, or make a key without with --no-password")
	}
	return password, nil
}

// loadKey reads a private key; the password is asked for when it has one.
func loadKey(ctx context.Context, path string, passwords passwordSource) (*signature.PrivateKey, error) {
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, exit.Usage(err, "name the file of a private key")
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, signature.MaxKeySize))
	if err != nil {
		return nil, exit.Usage(err, "name the file of a private key")
	}
	key, err := signature.ParsePrivateKey(data, func() (string, error) {
		return passwords.ask(ctx, "Password of "+path+" (not shown)")
	})
	var wrong *signature.Error
	if errors.As(err, &wrong) {
		return nil, exit.Usage(fmt.Errorf("%s: %w", path, wrong.Err), wrong.Step)
	}
	return key, err
}

// generateKey writes a new key and its public one to path and path.pub. It overwrites nothing.
func generateKey(ctx context.Context, path string, form signature.Form, noPassword bool,
	passwords passwordSource) (*signature.PrivateKey, error) {
	for _, name := range []string{path, path + ".pub"} {
		if _, err := os.Lstat(name); err == nil {
			return nil, exit.Usage(fmt.Errorf("there is a %s already", name), "choose another --key FILE")
		}
	}
	password := ""
	if !noPassword {
		var err error
		if password, err = passwords.askNew(ctx); err != nil {
			return nil, err
		}
	}
	key, err := signature.Generate(form)
	if err != nil {
		return nil, err
	}
	private, err := key.File(password)
	if err != nil {
		return nil, err
	}
	public, err := key.PublicFile()
	if err != nil {
		return nil, err
	}
	return key, errors.Join(writeNew(path, private, 0o600), writeNew(path+".pub", public, 0o644))
}

func writeNew(path string, content []byte, mode os.FileMode) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return fmt.Errorf("write the key: %w", err)
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// remoteFetcher talks to registries and keeps nothing.
func remoteFetcher() *fetch.Fetcher {
	return fetch.New(fetch.Options{Dir: filepath.Join(os.TempDir(), "unused")})
}
