// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// printer is for messages of the validator that are not put into other words here.
var printer = message.NewPrinter(language.English)
