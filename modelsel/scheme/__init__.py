PARTS = ("", "bagged")
