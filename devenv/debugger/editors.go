// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package debugger

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pipedeck/pipedeck/system/inputfile"
)

// WriteLaunchConfigurations writes for VS Code and GoLand how they connect to the debugger of a plugin, into the
// directory of its package. It returns the files that it has written. In a file that exists, it sets the port of the
// configuration "pipedeck: PLUGIN", and changes nothing else; without such a configuration it leaves the file.
func WriteLaunchConfigurations(dir, plugin string, port int) (written []string, err error) {
	var failed []error
	name := "pipedeck: " + plugin
	code, err := launchFile(name, plugin, port)
	if err != nil {
		return nil, err
	}
	run, err := runFile(name, port)
	if err != nil {
		return nil, err
	}
	files := []struct {
		path    string
		text    []byte
		setPort func(text []byte, configuration string, port int) ([]byte, error)
	}{
		{filepath.Join(dir, ".vscode", "launch.json"), code, setLaunchPort},
		{filepath.Join(dir, ".run", "pipedeck "+plugin+".run.xml"), run, setRunPort},
	}
	for _, file := range files {
		err := create(file.path, append(file.text, '\n'))
		if errors.Is(err, fs.ErrExist) {
			var text, changed []byte
			if text, err = os.ReadFile(file.path); err == nil {
				changed, err = file.setPort(text, name, port)
			}
			if err == nil && bytes.Equal(text, changed) {
				continue
			}
			if err == nil {
				err = inputfile.Replace(file.path, changed)
			}
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("write the port of the debugger to %s: %w", file.path, err))
			continue
		}
		written = append(written, file.path)
	}
	return written, errors.Join(failed...)
}

// launchFile is the file of VS Code.
func launchFile(name, plugin string, port int) ([]byte, error) {
	return json.MarshalIndent(map[string]any{
		"version": "0.2.0",
		"configurations": []map[string]any{{
			"name": name, "type": "go", "request": "attach", "mode": "remote", "host": "127.0.0.1", "port": port,
		}, { // for pipedeck plugin attach
			"name": "pipedeck: start " + plugin, "type": "go", "request": "launch", "mode": "debug",
			"program": "${workspaceFolder}", "args": []string{"reattach", "-name", plugin},
		}},
	}, "", "  ")
}

// runFile is the file of GoLand.
func runFile(name string, port int) ([]byte, error) {
	type configuration struct {
		Default string `xml:"default,attr"`
		Name    string `xml:"name,attr"`
		Type    string `xml:"type,attr"`
		Factory string `xml:"factoryName,attr"`
		Host    string `xml:"host,attr"`
		Port    int    `xml:"port,attr"`
		Method  struct {
			Version string `xml:"v,attr"`
		} `xml:"method"`
	}
	var goland struct {
		XMLName       xml.Name      `xml:"component"`
		Name          string        `xml:"name,attr"`
		Configuration configuration `xml:"configuration"`
	}
	goland.Name = "ProjectRunConfigurationManager"
	goland.Configuration = configuration{Default: "false", Name: name, Type: "GoRemoteDebugConfigurationType",
		Factory: "Go Remote", Host: "127.0.0.1", Port: port}
	goland.Configuration.Method.Version = "2"
	return xml.MarshalIndent(goland, "", "  ")
}

// create writes a new file, for an editor to read.
func create(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}
