for (const form of document.querySelectorAll("form[data-at-once]")) form.submit();
