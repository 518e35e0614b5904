// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"regexp"
	"strings"
)

// What Python and Node print when a program imports what is not installed.
var (
	missingInPython = regexp.MustCompile(`(?m)^(?:ModuleNotFoundError|ImportError): No module named '?([\w.]+)'?`)
	missingInNode   = regexp.MustCompile(`(?m)^(?:Error(?: \[\w+\])?: )?Cannot find (?:module|package) '([^']+)'`)
)

// packages are those, at PyPI and in Debian, in which modules are that the plugins of pipedeck plugin new import.
var packages = map[string][2]string{
	"grpc":   {"grpcio protobuf", "python3-grpcio python3-protobuf"},
	"google": {"grpcio protobuf", "python3-grpcio python3-protobuf"},
	"yaml":   {"PyYAML", "python3-yaml"},
}

// missingModule returns the line of the output about a module that is not there, and what to do; empty for none.
func missingModule(output string) (line, next string) {
	if found := missingInPython.FindStringSubmatch(output); found != nil {
		module, _, _ := strings.Cut(found[1], ".")
		in, known := packages[module]
		if !known {
			return found[0], fmt.Sprintf("install what it imports: pip install %s, for the Python that runs the "+
				"plugin; or correct the import, when %s is a file of the plugin", module, module)
		}
		return found[0], fmt.Sprintf("install what it imports, for the Python that runs the plugin: apt-get install "+
			"%s; or, in a virtual environment, pip install %s", in[1], in[0])
	}
	found := missingInNode.FindStringSubmatch(output)
	switch {
	case found == nil:
		return "", ""
	case strings.HasPrefix(found[1], ".") || strings.HasPrefix(found[1], "/"):
		return found[0], "correct the import, or add the file"
	}
	return found[0], "install what it imports, in the directory of the plugin: npm install"
}
